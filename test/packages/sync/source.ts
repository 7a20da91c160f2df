import { createTributary, type Tributary } from '../../../src/packages/client/client.ts'
import { columnNameOf } from '../../../src/packages/sync/source/resources.ts'
import { importContent } from '../../import/runImport.ts'
import type { TestApp } from '../../kit/app.ts'
import { useOpened } from '../../kit/fixtures.ts'
import { until } from '../../kit/until.ts'
import { queryDuckdb } from './queryDuckdb.ts'

// The source of the copies of tests: rows of every resource of the account `acme`.

/** A few; ten more clicks are of one day. */
export const clickCount = 260
export const conversionCount = 220
export const firstMs = Date.UTC(2026, 10, 18)
/** The first 130 clicks cover three days, and later ones are between them. */
const clickMs = (n: number) => firstMs + (n % 130) * 1_600_000 + Math.floor(n / 130) * 40_000
export const clickDay = (n: number) => new Date(clickMs(n)).toISOString().slice(0, 10)
/** More than 256 bytes, with characters of one to four bytes. */
const longText = 'aé€😀'.repeat(100)
export const clicks = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, n) => from + n).map((n) => ({
    id: `c${n}`,
    clickedAt: new Date(clickMs(n)).toISOString(),
    referrer: `https://x/"\\${n}`,
    language: ['de-DE,de;q=0.9', 'EN', undefined][n % 3],
    region: n % 2 ? 'Bavaria' : undefined,
    city: `c${n % 2}`,
    osVersion: ['18', '(not set)'][n % 2],
    browserVersion: '9',
    utmSource: ['news', undefined][n % 2],
    utmMedium: 'cpc',
    utmCampaign: `u${n % 2}`,
    utmTerm: 'a, b',
    utmContent: ['x'][n % 2],
    country: ['DE', 'US', undefined][n % 3],
    device: n % 2 ? 'mobile' : 'desktop',
    os: `os${n % 4}`,
    browser: n % 5 ? 'Firefox' : undefined,
    campaignId: n % 3 ? 'spring' : 'unknown',
    offerId: 'o1',
    cost: Number(`0.${10_001 + n}`),
    isBot: n % 11 === 0,
    isTest: n % 13 === 0,
    ...(n % 7 === 0 && { subIds: { sub1: n % 2 ? `s${n}` : `${n}${longText}`, sub10: 'z' } }),
  }))
export const conversions = (from: number, until: number, status: string, round: number) =>
  Array.from({ length: until - from }, (_, n) => from + n).map((n) => ({
    id: `v${n}`,
    status,
    clickId: `c${n * 3}`,
    revenue: Number(`1.${1_001 + n}`),
    isTest: n % 17 === 0,
    eventName: n % 2 ? 'lead' : undefined,
    couponCode: n % 5 ? undefined : 'SAVE',
    convertedAt: new Date(firstMs + n * 700_000).toISOString(),
    updatedAt: new Date(firstMs + round * 1_000).toISOString(),
  }))

/** Corrected by a later round; some are of no campaign. */
export const costs = (from: number, until: number, round: number) =>
  Array.from({ length: until - from }, (_, n) => from + n).map((n) => ({
    spentAt: new Date(firstMs + n * 3_600_000).toISOString(),
    campaignId: n % 4 ? 'spring' : undefined,
    country: n % 5 ? 'DE' : undefined,
    cost: Number(`${n}.0000${10 + round}`),
    updatedAt: new Date(firstMs + round * 1_000).toISOString(),
  }))

const browserEvents = Array.from({ length: 40 }, (_, n) => ({
  id: `e${n}`,
  eventName: 'visit',
  clickId: `c${n}`,
  value: n % 2 ? 0.1 + n : undefined,
  occurredAt: new Date(firstMs + n * 3_000_000).toISOString(),
}))
/** Browser events have the same ids. */
export const serverEvents = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, n) => from + n).map((n) => ({
    event_id: `e${n}`,
    event_name: 'paid',
    click_id: `c${3 * n + 1}`,
    currency: 'EUR',
    properties: { text: `"\u0000\\${n}`, 7: n % 2 === 0, price: 1e-7 * n, blank: '' },
    timestamp: new Date(firstMs + n * 3_000_000).toISOString(),
  }))

/** Stores the source before the tests of a file. @returns the server, and a key and a client of the account */
export function useSource(api: TestApp) {
  return useOpened(async () => {
    const key = await api.account('acme')
    const baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
    const client = createTributary({ baseUrl, apiKey: key })
    await importContent(api.stores, 'acme', 'traffic-sources', [{ id: 'social', name: 'Social', category: 'social' }])
    await importContent(api.stores, 'acme', 'campaigns', [
      { id: 'spring', name: 'Spring, "2026"', trafficSourceId: 'social', costValue: 0.123456, tags: ['a', 'b|c'] },
    ])
    await importContent(api.stores, 'acme', 'offers', [
      { id: 'o1', name: 'Offer', affiliateNetwork: 'Net', payout: 12.5, countries: ['DE', 'US'] },
    ])
    await importContent(api.stores, 'acme', 'clicks', clicks(0, clickCount))
    await importContent(api.stores, 'acme', 'conversions', conversions(0, conversionCount, 'pending', 0))
    await importContent(api.stores, 'acme', 'costs', costs(0, 60, 0))
    await importContent(api.stores, 'acme', 'pixel-events', browserEvents)
    await client.sendEvents(serverEvents(0, 40))
    return { key, baseUrl, client, close() {} }
  })
}

/** Waits until lists by `storedAt` have a number of events: they end a second before the present. */
export async function untilEventsAreListed(client: Tributary, count: number): Promise<void> {
  const listed = async () => {
    const { data } = await client.get('/checksums/events', { query: { from: '2026-08-01', to: '2026-11-30' } })
    return data.reduce((sum, { rows }) => sum + rows, 0)
  }
  await until(async () => (await listed()) === count)
}

/** @returns the metrics of a row of a report or of the daily series, by the names of columns */
export function metricsOf(row: object): Record<string, unknown> {
  const { id: _, name: __, complete: ___, date: ____, dimensions: _____, ...metrics } = row as Record<string, unknown>
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [columnNameOf(name), value]))
}

export function numbersOf(row: object): Record<string, number | null> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : Number(value)]))
}

/** Clicks, and the cost of clicks and of rows, by campaign: as in the report, or in the files of a copy. */
export const byCampaign = {
  async report(client: Tributary) {
    const query = { group_by: 'campaign', from: '2026-11-01', to: '2026-11-30' } as const
    return (await client.get('/reports', { query })).data.map(({ id, clicks, cost }) => ({ id, clicks, cost }))
  },
  async files(folder: string) {
    return await queryDuckdb(
      ':memory:',
      `SELECT coalesce(campaignId, '(not set)') AS id, sum(clicks)::INT AS clicks, sum(costBase)::DOUBLE AS cost
      FROM (
        SELECT campaignId, 1 AS clicks, costBase
        FROM read_parquet('${folder}/clicks/*/part.parquet', hive_partitioning = true)
        WHERE NOT isBot AND NOT isTest
        UNION ALL
        SELECT campaignId, 0, costBase FROM read_parquet('${folder}/costs/*/part.parquet', hive_partitioning = true))
      GROUP BY 1 ORDER BY 2 DESC`,
    )
  },
}
