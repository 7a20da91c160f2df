// @module-tag long

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setRetention } from '../../src/accounts/retention.ts'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import { addErasures, hashOf, readErasureClock, readErasureKey } from '../../src/writer/erasure/erasures.ts'
import { Writer } from '../../src/writer/lease/writer.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { importContent } from '../import/runImport.ts'
import { openTestApp, type TestApp } from '../kit/app.ts'
import { randomCases } from '../kit/randomCases.ts'
import { Killed, killedStores } from '../writer/retention/killedStores.ts'
import { storedRowsOf, withWriter } from '../writer/retention/retainedAccount.ts'

// Two accounts get the same rows and erasures; months are removed from one of them.

type Step =
  | { kind: 'clicks'; lines: { n: number; month: number; cost: number; country: string; isBot: boolean }[] }
  | { kind: 'conversions'; lines: { n: number; status: string; revenue: number; updated: number }[] }
  | { kind: 'remove'; beforeMonth: number; killedAfter: number }
  | { kind: 'erase'; visitor: number }

const month = fc.integer({ min: 0, max: 5 })
const clickSteps = fc.record({
  kind: fc.constant('clicks' as const),
  lines: fc.array(
    fc.record({
      n: fc.integer({ min: 0, max: 29 }),
      month,
      cost: fc.integer({ min: 0, max: 900 }),
      country: fc.constantFrom('FR', 'DE', 'US'),
      isBot: fc.boolean(),
    }),
    { minLength: 8, maxLength: 20 },
  ),
})
const conversionSteps = fc.record({
  kind: fc.constant('conversions' as const),
  lines: fc.array(
    fc.record({
      n: fc.integer({ min: 0, max: 14 }),
      status: fc.constantFrom('approved', 'pending', 'refunded', 'declined'),
      revenue: fc.integer({ min: 0, max: 9_000 }),
      updated: fc.integer({ min: 1, max: 9 }),
    }),
    { minLength: 5, maxLength: 12 },
  ),
})
const removals = fc.record({
  kind: fc.constant('remove' as const),
  beforeMonth: fc.integer({ min: 1, max: 5 }),
  killedAfter: fc.integer({ min: 0, max: 45 }),
})
const erasures = fc.record({ kind: fc.constant('erase' as const), visitor: fc.integer({ min: 0, max: 4 }) })
const life: fc.Arbitrary<Step[]> = fc
  .tuple(
    ...[clickSteps, conversionSteps, removals],
    fc.array(fc.oneof(clickSteps, conversionSteps, removals, erasures), { minLength: 3, maxLength: 6 }),
  )
  .map(([first, second, third, more]) => [first, second, third, ...more])

let api: TestApp
let others: string

beforeAll(async () => {
  api = await openTestApp()
  await api.account('untouched')
  const rows = Array.from({ length: 12 }, (_, n) => clickRow({ n, month: n % 6, cost: n, country: 'FR', isBot: false }))
  await importContent(api.stores, 'untouched', 'clicks', rows)
  others = await storedRowsOf(api.stores, 'untouched')
})
afterAll(() => api?.close())

const day = (monthNumber: number, n: number) =>
  new Date(Date.UTC(2025, monthNumber, 1 + (n % 28), n % 24, 20)).toISOString()
const clickRow = ({ n, month: monthNumber, cost, ...rest }: Extract<Step, { kind: 'clicks' }>['lines'][number]) => ({
  ...{ id: `c${n}`, clickedAt: day(monthNumber, n), visitorId: `v${n % 5}`, campaignId: `k${n % 3}`, region: `r${n}` },
  ...{ city: `city ${n}`, referrer: 'https://a.example/', offerId: `o${n % 2}`, cost: cost / 100, ...rest },
})

it('sums, lists and conversions equal those of an account that keeps all rows, through removals, erasures and kills', async () => {
  let lives = 0
  await fc.assert(
    fc.asyncProperty(life, async (steps) => {
      lives += 1
      const [kept, aged] = [`kept-${lives}`, `aged-${lives}`]
      const keys = { kept: await api.account(kept), aged: await api.account(aged) }
      const months = new Map<string, number>()
      const conversions = new Set<string>()
      let retainedMonth = 0
      for (const step of steps) {
        if (step.kind === 'remove') {
          retainedMonth = Math.max(retainedMonth, step.beforeMonth)
          await remove(aged, retainedMonth, step.killedAfter)
        } else if (step.kind === 'erase') {
          for (const account of [kept, aged]) await erase(account, `v${step.visitor}`)
        } else if (step.kind === 'clicks') {
          // Clicks of removed months are rejected.
          const lines = step.lines.filter((line) => line.month >= retainedMonth)
          for (const { n, month: of } of lines) if (!months.has(`c${n}`)) months.set(`c${n}`, of)
          const rejected = step.lines.length - lines.length
          expect(await importContent(api.stores, aged, 'clicks', step.lines.map(clickRow))).toMatchObject({
            rejected,
          })
          await importContent(api.stores, kept, 'clicks', lines.map(clickRow))
        } else {
          // Of a removed click a new conversion knows the campaign only.
          const isComparable = ({ n }: { n: number }) =>
            conversions.has(`s${n}`) || (months.get(`c${n}`) ?? retainedMonth) >= retainedMonth
          const lines = step.lines.filter(isComparable)
          for (const { n } of lines) conversions.add(`s${n}`)
          const rows = lines.map(({ n, status, revenue, updated }) => ({
            ...{ id: `s${n}`, clickId: `c${n}`, convertedAt: day(n % 6, n), status, revenueBase: revenue / 100 },
            updatedAt: `2025-07-0${updated}T00:00:00.000Z`,
          }))
          for (const account of [kept, aged]) await importContent(api.stores, account, 'conversions', rows)
        }
        await compare(keys, retainedMonth)
      }
      for (const account of [kept, aged]) {
        expect(await withWriter(api.stores, account, findDifferences)).toEqual([])
      }
      expect(await storedRowsOf(api.stores, 'untouched')).toBe(others)
    }),
    { numRuns: randomCases(2) },
  )
})

/** Removes months, first as a process that is killed; the next writer completes it. */
async function remove(account: string, beforeMonth: number, killedAfter: number): Promise<void> {
  await setRetention(api.stores.postgres, account, { clickMonths: 1 })
  const nowMs = Date.UTC(2025, beforeMonth + 1, 10)
  const killed = killedStores(api.stores)
  await withWriter(api.stores, account, async (writer) => {
    killed.allow(killedAfter)
    await removeOldMonths(new Writer({ ...writer, stores: killed.stores }), nowMs, 0).catch((error) => {
      if (!(error instanceof Killed)) throw error
    })
  })
  await api.stores.postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
  await withWriter(api.stores, account, (writer) => removeOldMonths(writer, nowMs, 0))
}

async function erase(account: string, visitor: string): Promise<void> {
  await withWriter(api.stores, account, async (writer) => {
    const key = await readErasureKey(writer)
    const erasedMs = await readErasureClock(writer)
    await addErasures(writer, [{ kind: 'visitor', key, hash: hashOf(key, 'visitor', visitor), erasedMs }])
    await completeErasures(writer, { inFlightMs: 0, ifStillRead: 'leave' })
  })
}

const range = 'from=2025-01-01&to=2025-06-30'
const fromSums = [
  ...['campaign', 'country', 'offer', 'device', 'day', 'week'].map((by) => `/reports?group_by=${by}&${range}`),
  ...[`/reports?group_by=country&campaign_id=k1&${range}`, `/stats/overview?${range}`],
  ...[`/stats/daily?${range}&tz=Asia/Kathmandu`, `/conversions?limit=200`],
]

async function compare(keys: Record<'kept' | 'aged', string>, retainedMonth: number): Promise<void> {
  const from = new Date(Date.UTC(2025, retainedMonth, 1)).toISOString().slice(0, 10)
  const left = [`/clicks?limit=200&from=${from}`, `/reports?group_by=region,country&from=${from}&to=2025-06-30`]
  for (const path of [...fromSums, ...left]) {
    const [kept, aged] = await Promise.all([read(path, keys.kept), read(path, keys.aged)])
    expect([path, aged]).toEqual([path, kept])
  }
}

/** Without times of storage, which differ. */
async function read(path: string, key: string): Promise<unknown> {
  const response = await api.get(path, key)
  expect([path, response.statusCode]).toEqual([path, 200])
  return JSON.parse(response.body, (name, value) => (name === 'storedAt' || name === 'asOf' ? undefined : value))
}
