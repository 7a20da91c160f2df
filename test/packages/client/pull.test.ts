import createClient from 'openapi-fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namedTables } from '../../../schema/metadata.ts'
import type { paths } from '../../../src/packages/client/api.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { storeClicks, storeConversions, storeMetadata } from '../../kit/rows.ts'

// Compiled against the types generated from the OpenAPI document: a difference from the document does not compile, and a
// difference from the server fails here.

let api: TestApp
let client: ReturnType<typeof createClient<paths, 'application/json'>>

/** More than one page of every resource. */
const rows = 201
const each = <T>(make: (n: number) => T): T[] => Array.from({ length: rows }, (_, n) => make(n))
const at = (n: number) =>
  `2026-11-20 10:${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}.000`

beforeAll(async () => {
  api = await openTestApp()
  const key = await api.account('acme')
  for (const table of namedTables) {
    const named = each((n) => ({ id: `id-${n}`, name: `Name ${n}`, created_at: new Date(`${at(n)}Z`) }))
    await storeMetadata(api.stores, table, 'acme', named)
  }
  await storeClicks(
    api.stores,
    'acme',
    each((n) => ({ id: `c${n}`, clicked_at: at(n), campaign_id: `id-${n}`, country: 'US', cost_base: 0.1 })),
  )
  await storeConversions(
    api.stores,
    'acme',
    each((n) => ({
      id: `v${n}`,
      converted_at: at(n),
      campaign_id: `id-${n}`,
      transaction_id: `T-${n}`,
      revenue_base: 2,
    })),
  )
  const baseUrl = `${await api.app.listen({ port: 0, host: '127.0.0.1' })}/api/v1`
  client = createClient<paths, 'application/json'>({ baseUrl, headers: { Authorization: `ApiKey ${key}` } })
})
afterAll(() => api?.close())

/** @returns the body of a successful response */
function bodyOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

describe('a client generated from the document', () => {
  const page = { params: { query: { limit: 200 } } }

  it('reads a full page of every list', async () => {
    const clicks = bodyOf(await client.GET('/clicks', page))
    const conversions = bodyOf(await client.GET('/conversions', page))
    const campaigns = bodyOf(await client.GET('/campaigns', page))
    const offers = bodyOf(await client.GET('/offers', page))
    const landingPages = bodyOf(await client.GET('/landing-pages', page))
    const trafficSources = bodyOf(await client.GET('/traffic-sources', page))
    for (const { data, hasMore, nextCursor } of [
      clicks,
      conversions,
      campaigns,
      offers,
      landingPages,
      trafficSources,
    ]) {
      expect([data.length, hasMore, typeof nextCursor]).toEqual([200, true, 'string'])
    }
    const names: (string | null | undefined)[] = clicks.data.map(({ campaignName }) => campaignName)
    expect(names[0]).toBe('Name 200')
    expect(conversions.data[0]?.revenueBase).toBe(2)
    const rest = bodyOf(
      await client.GET('/clicks', { params: { query: { limit: 200, cursor: clicks.nextCursor ?? '' } } }),
    )
    expect(rest).toMatchObject({ data: [{ id: 'c0' }], hasMore: false, nextCursor: null })
  })

  it('reads a full page of both searches', async () => {
    const conversions = bodyOf(await client.GET('/conversions/search', { params: { query: { q: 't-', limit: 200 } } }))
    expect([conversions.data.length, conversions.data[0]?.matches]).toEqual([
      200,
      [{ field: 'transactionId', value: 'T-200' }],
    ])
    const campaigns = bodyOf(await client.GET('/campaigns/search', { params: { query: { q: 'name', limit: 200 } } }))
    expect([campaigns.data.length, campaigns.data[0]?.matched]).toEqual([200, true])
  })

  it('reads single items, and the error for an unknown item', async () => {
    const params = { params: { path: { id: 'id-7' } } }
    const items = [
      bodyOf(await client.GET('/campaigns/{id}', params)),
      bodyOf(await client.GET('/offers/{id}', params)),
      bodyOf(await client.GET('/landing-pages/{id}', params)),
      bodyOf(await client.GET('/traffic-sources/{id}', params)),
    ]
    expect(items.map(({ name }) => name)).toEqual(Array(4).fill('Name 7'))
    const { error, response } = await client.GET('/offers/{id}', { params: { path: { id: 'missing' } } })
    expect([response.status, error?.error]).toEqual([404, 'not_found'])
  })

  it('reads stats and reports', async () => {
    const overview = bodyOf(await client.GET('/stats/overview', { params: { query: { days: 7 } } }))
    expect([overview.totals.clicks, overview.totals.revenue, overview.resources.offers]).toEqual([rows, 2 * rows, rows])
    const daily = bodyOf(await client.GET('/stats/daily', { params: { query: { tz: 'Asia/Kathmandu' } } }))
    expect(daily.data.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(rows)
    const report = bodyOf(await client.GET('/reports', { params: { query: { group_by: 'campaign' } } }))
    expect([report.data.length, report.bucketCount, report.totals.cost]).toEqual([rows, rows, 20.1])
  })

  it('sends an event', async () => {
    const body = { click_id: 'c1', event_name: 'trial_converted', event_id: 'order-1' }
    expect(bodyOf(await client.POST('/events', { body }))).toEqual({ accepted: true })
    expect(bodyOf(await client.POST('/events', { body }))).toEqual({ accepted: true, deduplicated: true })
  })
})
