import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ReportResponse } from '../../../schema/report.ts'
import { intervals, StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { importContent } from '../../import/runImport.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { inUnits } from '../consistency/model.ts'
import {
  type ClickRow,
  type ConversionRow,
  clickRows,
  conversionRows,
  domains,
  languages,
  nowMs,
  query,
} from './generators.ts'
import { type Attributes, expectedReport, type Query, type Rows } from './model.ts'

// The same queries in every run. For more: REPORT_QUERIES=10000 npx vitest run test/properties/reports. A failure prints its
// seed; REPORT_SEED repeats it.
const queries = Number(process.env.REPORT_QUERIES ?? 300)
const seed = Number(process.env.REPORT_SEED ?? (queries === 300 ? 7 : Date.now() % 2 ** 31))

let api: TestApp
let key: string

beforeAll(async () => {
  api = await openTestApp()
  api.setNow(nowMs)
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
    .map((row) => ({ atMs: row.atMs, cost: BigInt(row.cost ?? 0), attributes: attributesOf(row) })),
  conversions: [...new Map(conversionRows.map((row) => [row.id, row])).values()]
    .filter(({ isTest }) => !isTest)
    .map((row) => {
      const found = row.clickNumber === undefined ? undefined : clickRows[row.clickNumber]
      const ofClick = found ? attributesOf(found) : {}
      const own = Object.entries(sharedAttributes(row)).filter(([, value]) => value !== undefined)
      return {
        atMs: row.atMs,
        status: row.status,
        revenue: BigInt(row.revenue ?? 0),
        attributes: { ...ofClick, ...Object.fromEntries(own) },
      }
    }),
}

function sharedAttributes(row: ClickRow | ConversionRow): Attributes {
  return {
    ...{ campaign: row.campaignId, offer: row.offerId, landing: row.landingPageId },
    ...{ traffic_source: row.trafficSourceId, country: row.country, device: row.device },
    ...{ os: row.os, browser: row.browser, ...row.subIds },
  }
}

function attributesOf(row: ClickRow): Attributes {
  return {
    ...sharedAttributes(row),
    ...{ region: row.region, city: row.city, os_version: row.osVersion, browser_version: row.browserVersion },
    language: row.language && languages[row.language],
    referrer_domain: row.referrer && domains[row.referrer],
    ...{ utm_source: row.utmSource, utm_medium: row.utmMedium, utm_campaign: row.utmCampaign },
    ...{ utm_term: row.utmTerm, utm_content: row.utmContent },
  }
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

describe('reports and stats', () => {
  it(
    'equal plain counts of the rows, with any dimensions, filters, zone, range, order and comparison',
    async () => {
      if (queries !== 300) console.log(`Seed ${seed}.`)
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
          if (statsText !== undefined) await compareStats(statsText, generated, response)
        }),
        { seed, numRuns: queries, endOnFailure: true },
      )
    },
    60_000 + queries * 500,
  )
})
