// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { Campaign, LandingPage, Offer, TrafficSource } from '../../../schema/metadata.ts'
import { Page } from '../../../schema/page.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { queryParquet } from '../../kit/parquet.ts'
import { csvRows, ndjsonRows, readPages } from '../../kit/readRows.ts'
import { storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()
let key: string
let otherKey: string

const kinds = [
  { path: '/campaigns', table: 'campaigns', one: Campaign, page: Page(Campaign) },
  { path: '/offers', table: 'offers', one: Offer, page: Page(Offer) },
  { path: '/landing-pages', table: 'landing_pages', one: LandingPage, page: Page(LandingPage) },
  { path: '/traffic-sources', table: 'traffic_sources', one: TrafficSource, page: Page(TrafficSource) },
] as const

beforeAll(async () => {
  key = await api.account('acme')
  otherKey = await api.account('other')
  for (const { table } of kinds) {
    await storeMetadata(api.stores, table, 'acme', [
      // Ties on the millisecond; ids sort bytewise: digits, uppercase, lowercase.
      ...['a', 'B', '1', 'b:2', 'A.x', 'a-1', 'z_', '10'].map((id) => ({
        id,
        created_at: new Date(testNowMs - 1_000),
      })),
      ...Array.from({ length: 12 }, (_, n) => ({ id: `n${n}`, created_at: new Date(testNowMs - 5_000 + n) })),
      { id: 'old', status: 'paused', created_at: new Date('1969-07-20T20:17:40.123Z') },
      { id: 'gone', status: 'archived' },
    ])
    await storeMetadata(api.stores, table, 'other', [{ id: 'a', name: 'theirs' }, { id: 'only-theirs' }])
  }
  const both = { currency: 'EUR', tags: ['x', 'ünï'], updated_at: new Date('2026-11-01T00:00:00.001Z') }
  await storeMetadata(api.stores, 'traffic_sources', 'acme', [
    { id: 'full', name: 'Färber', category: 'social', cost_model: 'cpc', currency: 'EUR' },
  ])
  await storeMetadata(api.stores, 'campaigns', 'acme', [
    { id: 'full', user_id: 'u1', traffic_source_id: 'full', cost_model: 'cpc', cost_value: '0.123456', ...both },
    { id: 'stray', traffic_source_id: 'only-theirs' },
  ])
  await storeMetadata(api.stores, 'offers', 'acme', [
    {
      ...{ id: 'full', url: 'https://offer.example', affiliate_network: 'Net', payout_type: 'cpa' },
      ...{ payout: '999999999999.5', countries: ['US', 'DE'], ...both },
    },
  ])
})

describe.each(kinds)('GET $path', ({ path, page }) => {
  const read = (query: string) => api.read(`${path}?${query}`, key, page)

  const readAll = async (query: string, limit: number): Promise<string[]> =>
    (await readPages<{ id: string }>(api, `${path}?${query}&limit=${limit}`, key, page)).map(({ id }) => id)

  it('lists each row exactly once, newest first, at any page size, including ties', async () => {
    const all = await readAll('', 200)
    expect(new Set(all).size).toBe(all.length)
    const tied = ['z_', 'b:2', 'a-1', 'a', 'B', 'A.x', '10', '1']
    expect(all.slice(all.indexOf('z_'))).toEqual([
      ...tied,
      ...Array.from({ length: 12 }, (_, n) => `n${11 - n}`),
      'old',
    ])
    for (const limit of [1, 7]) expect(await readAll('', limit)).toEqual(all)
  })

  it('filters by status', async () => {
    expect(await readAll('status=paused', 1)).toEqual(['old'])
    expect(await readAll('status=archived', 1)).toEqual(['gone'])
    expect(await readAll('status=active', 5)).not.toContain('gone')
  })

  it('rejects a forged cursor of any year or continues from its time, and never fails', async () => {
    const { nextCursor } = await read('limit=1')
    const [bound, , id] = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString()) as unknown[]
    for (const [moment, status] of [
      ['-000001-12-31T23:59:59.999Z', 400],
      ['0000-01-01T00:00:00.000Z', 400],
      ['0000-12-31T23:59:59.999Z', 400],
      ['0001-01-01T00:00:00.000Z', 200],
      ['9999-12-31T23:59:59.999Z', 200],
      ['+010000-01-01T00:00:00.000Z', 400],
    ] as const) {
      const cursor = Buffer.from(JSON.stringify([bound, Date.parse(moment), id])).toString('base64url')
      expect([moment, (await api.get(`${path}?cursor=${cursor}`, key)).statusCode]).toEqual([moment, status])
    }
  })
})

describe.each(kinds)('GET $path/:id', ({ path, one }) => {
  it('returns the same row as the list', async () => {
    expect(await api.read(`${path}/old`, key, one)).toMatchObject({
      id: 'old',
      status: 'paused',
      createdAt: '1969-07-20T20:17:40.123Z',
    })
    expect(await api.read(`${path}/b:2`, key, one)).toMatchObject({ id: 'b:2' })
    expect((await api.read(`${path}/a`, key, one)).name).toBe('a')
    expect((await api.read(`${path}/a`, otherKey, one)).name).toBe('theirs')
  })
})

describe.each(kinds)('an export of $path', ({ path, one, page }) => {
  const fields = [...Object.keys(one.properties), 'cursor']
  const pageRows = async (query = '') => (await api.read(`${path}?limit=200${query}`, key, page)).data as object[]
  const withoutCursor = ({ cursor: _, ...row }: Record<string, unknown>) => row

  it('has the rows of the pages, in their order, as NDJSON', async () => {
    const response = await api.get(`${path}?format=ndjson&status=active`, key)
    expect(response.headers['content-type']).toBe('application/x-ndjson')
    const rows = ndjsonRows(response.body)
    expect(rows.map(withoutCursor)).toEqual(await pageRows('&status=active'))
    expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => fields))
    const after = `status=active&cursor=${rows[2]?.cursor}`
    expect((await api.read(`${path}?limit=1&${after}`, key, page)).data[0]?.id).toBe(rows[3]?.id)
    expect(ndjsonRows((await api.get(`${path}?format=ndjson&${after}`, key)).body)).toEqual(rows.slice(3))
  })

  it('has the same rows as CSV, lists separated by |', async () => {
    const response = await api.get(`${path}?format=csv`, key)
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const cells = (await pageRows()).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? value.join('|') : `${value ?? ''}`]),
      ),
    )
    expect((await csvRows(response.body)).map(withoutCursor)).toEqual(cells)
  })

  it('has the same rows as Parquet, with typed columns', async () => {
    const { headers, rawPayload } = await api.get(`${path}?format=parquet`, key)
    expect(headers['content-type']).toBe('application/vnd.apache.parquet')
    const rows = await queryParquet(api.stores, rawPayload, 'SELECT * EXCEPT cursor')
    expect(rows).toEqual(await pageRows())
    const types = Object.fromEntries(
      (await queryParquet<{ name: string; type: string }>(api.stores, rawPayload, 'DESCRIBE')).map(({ name, type }) => [
        name,
        type,
      ]),
    )
    expect(Object.keys(types)).toEqual(fields)
    expect(types).toMatchObject({ id: 'Nullable(String)', createdAt: "Nullable(DateTime64(3, 'UTC'))" })
    if ('payout' in types) expect(types.payout).toBe('Nullable(Decimal(18, 6))')
    if ('tags' in types) expect(types.tags).toBe('Array(Nullable(String))')
  })

  it('has the columns but no rows when nothing matches', async () => {
    const none = await api.account(`none${path.replace('/', '-')}`)
    expect((await api.get(`${path}?format=ndjson`, none)).body).toBe('')
    expect((await api.get(`${path}?format=csv`, none)).body).toBe(`${fields.map((name) => `"${name}"`).join(',')}\n`)
    const { rawPayload } = await api.get(`${path}?format=parquet`, none)
    expect((await queryParquet<{ name: string }>(api.stores, rawPayload, 'DESCRIBE')).map(({ name }) => name)).toEqual(
      fields,
    )
  })
})

describe('an export of metadata', () => {
  it('of thousands of rows has each one once', async () => {
    const manyKey = await api.account('many')
    await api.stores.postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, tags, created_at, updated_at, search_text)
      SELECT 'many', 'c' || n, '=' || n, 'u', 'active', ARRAY['=a', 'b|c'], now, now, ''
      FROM generate_series(1, 2001) AS n, (SELECT timestamptz '2026-11-01 00:00:00Z' + interval '1 ms' AS now) AS at`
    const ids = ndjsonRows((await api.get('/campaigns?format=ndjson', manyKey)).body).map(({ id }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([2_001, 2_001])
    const { rawPayload } = await api.get('/campaigns?format=parquet', manyKey)
    expect(
      await queryParquet(api.stores, rawPayload, 'SELECT count() AS rows, uniqExact(id) AS ids, any(tags[2]) AS tag'),
    ).toEqual([{ rows: 2_001, ids: 2_001, tag: 'b|c' }])
    const csv = (await api.get('/campaigns?format=csv&csv_escape=formulas', manyKey)).body.split('\n')
    expect(csv.length).toBe(2_003)
    expect(csv[1]).toContain(`,"'=`)
    expect(csv[1]).toContain(`"[""=a"",""b|c""]"`)
  })

  it('rejects a limit, and csv_escape of other formats', async () => {
    for (const [query, code] of [
      ['format=csv&limit=5', 'invalid_limit'],
      ['format=ndjson&csv_escape=formulas', 'invalid_csv_escape'],
    ]) {
      const response = await api.get(`/offers?${query}`, key)
      expect([query, response.statusCode, response.json().error]).toEqual([query, 400, code])
    }
  })
})

describe('a row of metadata', () => {
  it('returns every field, with null for absent ones', async () => {
    const made = { createdAt: '2026-11-21T15:00:00.000Z', updatedAt: '2026-11-21T15:00:00.000Z' }
    const full = { id: 'full', name: 'full', status: 'active', currency: 'EUR', tags: ['x', 'ünï'], ...made }
    const updatedAt = '2026-11-01T00:00:00.001Z'
    expect(await api.read('/campaigns/full', key, Campaign)).toEqual({
      ...{ ...full, userId: 'u1', trafficSourceId: 'full', trafficSourceName: 'Färber', costModel: 'cpc' },
      ...{ costValue: 0.123456, updatedAt },
    })
    expect(await api.read('/offers/full', key, Offer)).toEqual({
      ...{ ...full, url: 'https://offer.example', affiliateNetwork: 'Net', payoutType: 'cpa' },
      ...{ payout: 999999999999.5, countries: ['US', 'DE'], updatedAt },
    })
    const gone = { id: 'gone', name: 'gone', status: 'archived', ...made }
    expect(await api.read('/landing-pages/gone', key, LandingPage)).toEqual({ ...gone, url: null, tags: [] })
    expect(await api.read('/traffic-sources/gone', key, TrafficSource)).toEqual({
      ...{ ...gone, category: null, costModel: null, currency: null },
    })
  })

  it('returns a null name for a traffic source of another account', async () => {
    expect(await api.read('/campaigns/stray', key, Campaign)).toMatchObject({
      trafficSourceId: 'only-theirs',
      trafficSourceName: null,
    })
  })
})
