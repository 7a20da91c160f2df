import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ReportQuery, ReportResponse } from '../../../schema/report.ts'
import { intervals, StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { planReport } from '../../../src/api/reports/plan.ts'
import { runReport } from '../../../src/api/reports/run.ts'
import { openNameCache } from '../../../src/rows/nameCache.ts'
import { importContent } from '../../import/runImport.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { inUnits } from '../consistency/model.ts'
import { clickAttributes, conversionAttributes } from './attributes.ts'
import { type ClickRow, type ConversionRow, clickRows, conversionRows, nowMs, query } from './generators.ts'
import { expectedReport, type Query, type Rows } from './model.ts'

let api: TestApp
let key: string

beforeAll(async () => {
  api = await openTestApp()
  api.setNow(nowMs)
  // The time stands still, so all queries are in one minute.
  await setPlanLimits(api.stores.postgres, 'scale', { requestsPerMinute: 10_000_000 })
  key = await api.account('acme')
  const store = async (resource: 'clicks' | 'conversions', rows: object[]) => {
    const { rejected } = await importContent(api.stores, 'acme', resource, rows)
    expect(rejected).toBe(0)
  }
  // A third of the clicks arrive after their conversions, and a third of the conversions have two versions.
  await store('clicks', clickRows.slice(0, 200).map(clickLine))
  await store('conversions', conversionRows.slice(0, 110).map(conversionLine))
  await store('clicks', clickRows.slice(200).map(clickLine))
  await store(
    'conversions',
    conversionRows.slice(110).map((row, n) => conversionLine(row, n + 110)),
  )
})
afterAll(() => api?.close())

const instant = (epochMs: number) => new Date(epochMs).toISOString()

function clickLine({ atMs, cost, ...row }: ClickRow): object {
  return { ...row, clickedAt: instant(atMs), ...(cost !== undefined && { cost: inUnits(BigInt(cost)) }) }
}

function conversionLine({ atMs, revenue, clickNumber, ...row }: ConversionRow, n: number): object {
  return {
    ...row,
    convertedAt: instant(atMs),
    updatedAt: instant(nowMs + n),
    ...(clickNumber !== undefined && { clickId: `c${clickNumber}` }),
    ...(revenue !== undefined && { revenue: inUnits(BigInt(revenue)) }),
  }
}

/** The rows as they count: the latest version of a conversion, with what it has from its click. */
const rows: Rows = {
  clicks: clickRows
    .filter(({ isBot, isTest }) => !isBot && !isTest)
    .map((row) => ({ atMs: row.atMs, cost: BigInt(row.cost ?? 0), attributes: clickAttributes(row) })),
  conversions: [...new Map(conversionRows.map((row) => [row.id, row])).values()]
    .filter(({ isTest }) => !isTest)
    .map((row) => {
      const found = row.clickNumber === undefined ? undefined : clickRows[row.clickNumber]
      return {
        atMs: row.atMs,
        status: row.status,
        revenue: BigInt(row.revenue ?? 0),
        attributes: conversionAttributes(row, found),
      }
    }),
}

/** Compares stats of the same range and filters with a report: their totals, and a series with a plain count. */
async function compareStats(text: string, query: Query, report: ReportResponse): Promise<void> {
  const overview = await api.read(`/stats/overview?${text}`, key, StatsOverview)
  expect([text, overview.totals, overview.previous]).toEqual([text, report.totals, report.previous])
  const interval = intervals.find((name) => query.dimensions.includes(name)) ?? 'day'
  const series = await api.read(`/stats/daily?${text}&interval=${interval}`, key, StatsDaily)
  const idOf = (id: string) => (interval === 'month' ? `${id}-01` : id)
  const expected = expectedReport(
    { ...query, dimensions: [interval], sort: { by: 'id', isDescending: false }, limit: 1_000 },
    rows,
    nowMs,
  )
  const found = series.data.map(({ date: _date, complete: _complete, ...row }) => row)
  const isCounted = ({ clicks, conversions, ...row }: (typeof found)[number]) =>
    clicks + conversions + row.pendingConversions + row.holdConversions > 0 ||
    row.declinedConversions + row.refundedConversions > 0
  const shown = new Map(found.filter(isCounted).map((row) => [row.id, row]))
  expect([text, interval, shown]).toEqual([
    text,
    interval,
    new Map(
      expected.data.map(({ previous, id, ...row }) => [
        idOf(id),
        { id: idOf(id), ...row, ...(previous && { previous: { ...previous, id: previous.id && idOf(previous.id) } }) },
      ]),
    ),
  ])
  expect(series.data.map(({ id }) => id)).toEqual([...new Set(series.data.map(({ id }) => id))])
}

/** Reads a report in this process, ordered here from its groups or in ClickHouse. */
async function runHere(text: string, groupsMax?: number): Promise<string> {
  const caller = { accountId: 'acme', currency: 'USD', retained: { clicksMs: 0, eventsMs: 0 } }
  const asked = Object.fromEntries(new URLSearchParams(text)) as unknown as ReportQuery
  const days = asked.days && Number(asked.days)
  const limit = asked.limit && Number(asked.limit)
  const plan = planReport({ ...asked, ...(days && { days }), ...(limit && { limit }) }, caller, nowMs)
  const context = { stores: api.stores, nameCache: openNameCache(api.stores.postgres) }
  return JSON.stringify(await runReport(context, plan, new AbortController().signal, groupsMax))
}

describe('reports and stats', () => {
  it('equal plain counts of the rows, with any dimensions, filters, zone, range, order and comparison', async () => {
    await fc.assert(
      fc.asyncProperty(query, async ({ text, statsText, ...generated }) => {
        const response = await api.read(`/reports?${text}`, key, ReportResponse)
        const { data, totals, bucketCount, previous } = response
        const expected = expectedReport(generated, rows, nowMs)
        const shown = data.map(({ name: _name, dimensions: _dimensions, ...row }) => row)
        expect([text, bucketCount, totals]).toEqual([text, expected.bucketCount, expected.totals])
        expect([text, shown]).toEqual([text, expected.data])
        expect([response.from, response.to]).toEqual([
          instant(generated.range.fromMs),
          instant(generated.range.untilMs),
        ])
        if ('previous' in expected) {
          const { range, totals: earlierTotals } = expected.previous
          expect([text, previous]).toEqual([
            text,
            { from: instant(range.fromMs), to: instant(range.untilMs), totals: earlierTotals },
          ])
        } else expect(previous).toBeUndefined()
        expect([text, await runHere(text)]).toEqual([text, await runHere(text, 0)])
        if (generated.limit === 3) await compareStats(statsText, generated, response)
      }),
      { numRuns: randomCases(60), endOnFailure: true },
    )
  })
})
