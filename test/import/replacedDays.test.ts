// @module-tag all

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
  /** Minutes; its `updatedAt`, or without one the start of its import. */
  at: number
  isUndated?: boolean
  /** Cents by day and campaign. */
  costs: Record<string, number>
  isRejected?: boolean
  map?: string
}

const pairs = (text: string) => text.split(',').map((pair) => pair.split('=') as [string, string])
const mapOf = ({ map = 'Day=spentAt,Campaign=campaignId,Cost=cost' }: Pick<Sheet, 'map'>) => map
const timeOf = ({ at }: Sheet) => Date.UTC(2026, 10, 25, 0, at)
const optionsOf = ({ adAccount, isUndated, ...sheet }: Sheet) => ({
  map: pairs(mapOf(sheet)),
  constant: pairs(`trafficSourceId=google,sub10=${adAccount}`),
  tz: 'America/Havana',
  ...(!isUndated && { updatedAt: new Date(timeOf({ adAccount, ...sheet })).toISOString() }),
  replaceDays: true,
})

/** The content of the file. */
function fileOf({ costs, isRejected, ...sheet }: Sheet): string {
  const rows = Object.entries(costs).map(([key, cents]) => `${key.replace(' ', ',')},${cents / 100}`)
  if (isRejected) rows.push('2026-11-01,x,none')
  return [mapOf(sheet).replace(/=\w+/g, ''), ...rows, ''].join('\n')
}

async function importSheet(sheet: Sheet, target: Pick<Stores, 'clickhouse' | 'postgres'> = stores, isDryRun = false) {
  await writeFile(folder('sheet.csv'), fileOf(sheet))
  const mapping = await readMapping('costs', optionsOf(sheet))
  const found = await findAccount(stores.postgres, account)
  if (!found) throw new Error('no account')
  const tally: Tally = emptyTally()
  const source = { path: folder('sheet.csv'), format: { isCsv: true, isGzipped: false } }
  const wanted = { resource: 'costs', account: found, source, rejects: undefined, mapping, isDryRun } as const
  const said: string[] = []
  const onMessage = (line: string) => said.push(line)
  const watching = { onMessage, onProgress: () => {}, signal: new AbortController().signal }
  await importRows(target, { ...wanted, nowMs: timeOf(sheet) }, tally, watching)
  return { ...tally, said }
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
  readonly #rows = new Map<string, { at: number; cents: number; file: string }>()

  import(sheet: Sheet): void {
    const { adAccount, at, costs, isRejected } = sheet
    const [file, given] = [
      fileOf(sheet),
      new Map(Object.entries(costs).map(([key, cents]) => [`${adAccount} ${key}`, cents])),
    ]
    const dayOf = (key: string) => key.slice(0, adAccount.length + 11)
    for (const day of new Set([...given.keys()].map(dayOf))) {
      const known = [...this.#rows].filter(([key]) => dayOf(key) === day)
      if (known.some(([, row]) => row.at > at)) continue
      // Of two sheets with one time the first counts, unless the other one only adds rows.
      if (known.some(([key, row]) => row.at === at && row.file !== file && row.cents !== (given.get(key) ?? 0)))
        continue
      for (const [key, cents] of given) {
        const row = this.#rows.get(key)
        if (dayOf(key) === day && (row?.at !== at || row.cents !== cents)) this.#rows.set(key, { at, cents, file })
      }
      if (!isRejected)
        for (const [key, { cents }] of known)
          if (!given.has(key) && cents !== 0) this.#rows.set(key, { at, cents: 0, file })
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
const oneIn = (count: number) => fc.integer({ min: 1, max: count }).map((number) => number === 1)
const sheet = fc.record({
  adAccount: fc.constantFrom('123-456', '789'),
  costs: fc.dictionary(key, fc.integer({ min: 1, max: 9_999 }), { minKeys: 1, maxKeys: 6, noNullPrototype: true }),
  isRejected: oneIn(6),
  isUndated: oneIn(4),
  /** Whether it has the costs of the sheet before it. */
  isEqual: oneIn(4),
  /** Whether it has the time of the sheet before it. */
  isTied: oneIn(6),
})
/** Sheets in any order, some of them twice. */
const imports = fc
  .array(sheet, { minLength: 2, maxLength: 6 })
  .map((list) => {
    const sheets: Sheet[] = []
    for (const [index, { isEqual, isTied, ...one }] of list.entries()) {
      const { adAccount, costs } = (isEqual && sheets.at(-1)) || one
      sheets.push({ ...one, adAccount, costs, at: isTied ? (sheets.at(-1)?.at ?? index) : index })
    }
    return sheets
  })
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
      const timed = new Set(list.map((one) => `${one.at} ${one.adAccount} ${fileOf(one)}`))
      if (list.some(({ isRejected }) => isRejected) || new Set(list.map(({ at }) => at)).size < timed.size) return
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

it('of two sheets with one time the first stays whole, and the warning names a time with which the other one replaces it', async () => {
  const first = { adAccount: '1', at: 1, costs: { '2026-03-07 a': 100, '2026-03-07 b': 200, '2026-03-08 a': 300 } }
  const other = { adAccount: '1', at: 1, costs: { '2026-03-07 a': 150, '2026-03-07 c': 10, '2026-03-08 a': 300 } }
  await importSheet(first)
  const { said, ...tally } = await importSheet(other)
  expect(tally).toMatchObject({ read: 3, duplicates: 3, conflicting: 2, replaced: { rows: 0, cost: 0 } })
  const stays = { '1 2026-03-07 a': 100, '1 2026-03-07 b': 200, '1 2026-03-08 a': 300 }
  expect(await state()).toEqual(stays)
  const [, later = ''] = /costs of 2026-03-07, so .* --updated-at (\S+)\.$/m.exec(said.join('\n')) ?? []
  expect(Date.parse(later)).toBeGreaterThan(timeOf(other))
  expect(await readMapping('costs', { ...optionsOf(other), updatedAt: later })).toMatchObject({ replaceDays: true })
  await importSheet({ ...other, at: 2 })
  expect(await state()).toEqual({ '1 2026-03-07 a': 150, '1 2026-03-07 c': 10, '1 2026-03-08 a': 300 })
})

it('a file that is mapped anew and back at one time leaves its day whole, and a dry run counts as the import does', async () => {
  const sheetOf = (map: string) => ({
    adAccount: '1',
    at: 1,
    costs: { '2026-03-07 a,b': 5 },
    map: `Day=spentAt,${map},Cost=cost`,
  })
  const [first, second] = [sheetOf('A=campaignId,B=offerId'), sheetOf('A=offerId,B=campaignId')]
  await importSheet(first)
  for (const isDryRun of [true, false])
    expect((await importSheet(second, stores, isDryRun)).replaced).toEqual({ rows: 1, cost: 0.05 })
  expect(await importSheet(first)).toMatchObject({ conflicting: 1, replaced: { rows: 0, cost: 0 } })
  expect(await state()).toEqual({ '1 2026-03-07 b': 5 })
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
