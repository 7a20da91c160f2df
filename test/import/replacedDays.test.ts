import { writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { findAccount } from '../../src/accounts/accounts.ts'
import { readMapping } from '../../src/cli/mappingOptions.ts'
import { importRows } from '../../src/import/run.ts'
import { emptyTally, type Tally } from '../../src/import/tally.ts'
import type { Stores } from '../../src/stores/open.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { randomCases } from '../kit/randomCases.ts'
import { importContent, makeAccount, rowsOf } from './runImport.ts'

const stores = useTestStores()
const folder = useFolder()
let account: string
beforeEach(async () => {
  account = await makeAccount(stores)
})

interface Sheet {
  adAccount: string
  /** Minutes; its `updatedAt`. */
  at: number
  /** Cents by day and campaign. */
  costs: Record<string, number>
  isRejected?: boolean
}

const pairs = (text: string) => text.split(',').map((pair) => pair.split('=') as [string, string])
const optionsOf = ({ adAccount, at }: Sheet) => ({
  map: pairs('Day=spentAt,Campaign=campaignId,Cost=cost'),
  constant: pairs(`trafficSourceId=google,sub10=${adAccount}`),
  tz: 'America/Havana',
  updatedAt: new Date(Date.UTC(2026, 10, 25, 0, at)).toISOString(),
  replaceDays: true,
})

async function importSheet(sheet: Sheet, target: Pick<Stores, 'clickhouse' | 'postgres'> = stores, isDryRun = false) {
  const rows = Object.entries(sheet.costs).map(([key, cents]) => `${key.replace(' ', ',')},${cents / 100}`)
  if (sheet.isRejected) rows.push('2026-11-01,x,none')
  await writeFile(folder('sheet.csv'), ['Day,Campaign,Cost', ...rows, ''].join('\n'))
  const mapping = await readMapping('costs', optionsOf(sheet))
  const found = await findAccount(stores.postgres, account)
  if (!found) throw new Error('no account')
  const tally: Tally = emptyTally()
  const source = { path: folder('sheet.csv'), format: { isCsv: true, isGzipped: false } }
  const wanted = { resource: 'costs', account: found, source, rejects: undefined, mapping, isDryRun } as const
  const watching = { onMessage: () => {}, signal: new AbortController().signal, onProgress: () => {} }
  await importRows(target, { ...wanted, nowMs: Date.now() }, tally, watching)
  return tally
}

/** Stored cents by ad account, day and campaign, without zeros. Their sum equals the cost in a report. */
async function state() {
  const query = `
    SELECT concat(sub10, ' ', formatDateTime(spent_at, '%F', 'America/Havana'), ' ', campaign_id) AS key, toFloat64(cost) * 100 AS cents
    FROM costs FINAL WHERE account_id = '${account}' AND cost != 0 ORDER BY key`
  const rows = await rowsOf<{ key: string; cents: number }>(stores, query)
  const summed = `SELECT sum(cost) AS cost FROM sums_by_day WHERE account_id = '${account}' AND dimension = 'campaign'`
  const [sums] = await rowsOf<{ cost: string }>(stores, summed)
  expect(Number(sums?.cost)).toBeCloseTo(rows.reduce((sum, { cents }) => sum + cents, 0) / 100, 6)
  return Object.fromEntries(rows.map(({ key, cents }) => [key, Math.round(cents)]))
}

/** What the sheets must leave, in the order in which they were imported: the rules of the option in plain words. */
class Model {
  readonly #rows = new Map<string, { at: number; cents: number }>()

  import({ adAccount, at, costs, isRejected }: Sheet): void {
    const given = new Map(Object.entries(costs).map(([key, cents]) => [`${adAccount} ${key}`, cents]))
    const dayOf = (key: string) => key.slice(0, adAccount.length + 11)
    for (const day of new Set([...given.keys()].map(dayOf))) {
      const known = [...this.#rows].filter(([key]) => dayOf(key) === day)
      if (known.some(([, row]) => row.at > at)) continue
      for (const [key, cents] of given) if (dayOf(key) === day) this.#rows.set(key, { at, cents })
      if (!isRejected) for (const [key] of known) if (!given.has(key)) this.#rows.set(key, { at, cents: 0 })
    }
  }

  get state(): Record<string, number> {
    return Object.fromEntries([...this.#rows].flatMap(([key, { cents }]) => (cents === 0 ? [] : [[key, cents]])))
  }
}

// On 8 March the clocks of Havana change at midnight.
const key = fc
  .tuple(fc.constantFrom('2026-03-07', '2026-03-08', '2026-03-09'), fc.constantFrom('a', 'b', 'c'))
  .map((parts) => parts.join(' '))
const sheet = fc.record({
  adAccount: fc.constantFrom('123-456', '789'),
  costs: fc.dictionary(key, fc.integer({ min: 1, max: 9_999 }), { minKeys: 1, maxKeys: 6, noNullPrototype: true }),
  isRejected: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
})
/** Sheets in any order, some of them twice. */
const imports = fc
  .array(sheet, { minLength: 2, maxLength: 6 })
  .map((list) => list.map((one, at) => ({ ...one, at })))
  .chain((list) => fc.array(fc.constantFrom(...list), { maxLength: 3 }).map((again) => [...list, ...again]))
  .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))

it('sheets that lose rows, come twice, in any order, overlap, or have rejected rows leave what the rules say', async () => {
  await fc.assert(
    fc.asyncProperty(imports, async (list) => {
      account = await makeAccount(stores)
      const model = new Model()
      for (const one of list) {
        const before = model.state
        model.import(one)
        const became0 = Object.entries(before).filter(([row]) => !(row in model.state))
        const cost = became0.reduce((sum, [, cents]) => sum + cents, 0) / 100
        expect((await importSheet(one)).replaced).toEqual({ rows: became0.length, cost })
        expect(await state()).toEqual(model.state)
      }
      // Without rejected rows the state is that of the latest sheet of each day and ad account, in any order.
      if (list.some(({ isRejected }) => isRejected)) return
      const latest = new Map<string, Sheet>()
      for (const one of [...list].sort((a, b) => a.at - b.at))
        for (const row of Object.keys(one.costs)) latest.set(`${one.adAccount} ${row.slice(0, 10)}`, one)
      const rows = [...latest].flatMap(([day, { adAccount, costs }]) =>
        Object.entries(costs).map(([row, cents]) => ({ day, key: `${adAccount} ${row}`, cents })),
      )
      const expected = rows.filter((row) => row.key.startsWith(row.day)).map((row) => [row.key, row.cents])
      expect(model.state).toEqual(Object.fromEntries(expected))
    }),
    { numRuns: randomCases(4) },
  )
})

class Killed extends Error {}

it('an import that is killed at any statement is completed by a repetition, and never undone by an older sheet', async () => {
  const older = { adAccount: '1', at: 1, costs: { '2026-03-07 a': 100, '2026-03-07 b': 200, '2026-03-08 a': 300 } }
  const newer = { adAccount: '1', at: 2, costs: { '2026-03-07 a': 150, '2026-03-08 a': 300 } }
  for (let last = 0, isComplete = false; !isComplete; last += 1) {
    account = await makeAccount(stores)
    await importSheet(older)
    let sent = 0
    const dying = interceptClickHouse(stores, ({ method, label }) => {
      if ((method === 'exec' || label === 'import.replaced_day') && sent++ >= last) throw new Killed()
    })
    const end = await importSheet(newer, dying).catch((error: unknown) => error)
    isComplete = !(end instanceof Killed)
    if (isComplete) expect([end, last > 4]).toMatchObject([{ rejected: 0 }, true])
    await importSheet(newer)
    await importSheet(older)
    expect(await state(), `killed before statement ${last}`).toEqual({ '1 2026-03-07 a': 150, '1 2026-03-08 a': 300 })
  }
})

it('leaves rows of other constants, of other columns, and with ids of their own', async () => {
  const first = { adAccount: '1', at: 1, costs: { '2026-03-07 a': 100, '2026-03-07 b': 200 } }
  await importSheet(first)
  await importSheet({ ...first, adAccount: '2' })
  const other = { spentAt: '2026-03-07T12:00:00Z', trafficSourceId: 'google', sub10: '1' }
  const others = [
    { ...other, id: 'own', campaignId: 'own', cost: 1 },
    { ...other, campaignId: 'country', country: 'US', cost: 2 },
  ]
  await importContent(stores, account, 'costs', others, { nowMs: Date.UTC(2026, 10, 24) })
  const newer = { ...first, at: 2, costs: { '2026-03-07 a': 100 } }
  expect((await importSheet(newer, stores, true)).replaced).toEqual({ rows: 1, cost: 2 })
  expect((await importSheet(newer)).replaced).toEqual({ rows: 1, cost: 2 })
  expect(Object.values(await state()).sort()).toEqual([100, 100, 100, 200, 200])
  expect((await importSheet(newer)).replaced).toEqual({ rows: 0, cost: 0 })
})

it('needs a zone, a constant that is a dimension, and derived ids', async () => {
  const { tz, ...options } = optionsOf({ adAccount: '1', at: 1, costs: {} })
  const needed = '--replace-days is for costs, with --tz and a dimension as --constant trafficSourceId=google.'
  await expect(readMapping('costs', options)).rejects.toThrow(needed)
  await expect(readMapping('costs', { ...options, tz, constant: pairs('currency=USD') })).rejects.toThrow(needed)
  const withId = { ...options, tz, map: [...options.map, ...pairs('Id=id')] }
  await expect(readMapping('costs', withId)).rejects.toThrow('set neither id nor updatedAt.')
})
