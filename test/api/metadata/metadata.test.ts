// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { Campaign, LandingPage, Offer, TrafficSource } from '../../../schema/metadata.ts'
import { Page } from '../../../schema/page.ts'
import { exportMetadata } from '../../../src/api/metadata/export.ts'
import { planMetadata } from '../../../src/api/metadata/page.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { queryParquet } from '../../kit/parquet.ts'
import { ndjsonRows, readPages } from '../../kit/readRows.ts'
import { storeMetadata } from '../../kit/rows.ts'

// Fields and exports: test/api/lists/formats.test.ts.

const api = useTestApp()
let key: string

const kinds = [
  ['/campaigns', 'campaigns', Page(Campaign)],
  ['/offers', 'offers', Page(Offer)],
  ['/landing-pages', 'landing_pages', Page(LandingPage)],
  ['/traffic-sources', 'traffic_sources', Page(TrafficSource)],
] as const

/** Ties on the millisecond; ids sort bytewise: digits, uppercase, lowercase. */
const tied = ['1', '10', 'A.x', 'B', 'a', 'a-1', 'b:2', 'z_']
const numbered = Array.from({ length: 12 }, (_, n) => `n${n}`)

beforeAll(async () => {
  key = await api.account('acme')
  for (const [, table] of kinds) {
    await storeMetadata(api.stores, table, 'acme', [
      ...tied.toReversed().map((id) => ({ id, created_at: new Date(testNowMs - 1_000) })),
      ...numbered.map((id, n) => ({ id, created_at: new Date(testNowMs - 5_000 + n) })),
      { id: 'old', status: 'paused', created_at: new Date('1969-07-20T20:17:40.123Z') },
      { id: 'gone', status: 'archived' },
    ])
  }
})

describe.each(kinds)('GET %s', (path, _table, page) => {
  const readAll = async (query: string, limit: number): Promise<string[]> =>
    (await readPages<{ id: string }>(api, `${path}?${query}&limit=${limit}`, key, page)).map(({ id }) => id)

  it('lists each row exactly once, newest first, at any page size, including ties', async () => {
    const expected = ['gone', ...tied.toReversed(), ...numbered.toReversed(), 'old']
    for (const limit of [1, 7, 200]) expect(await readAll('', limit)).toEqual(expected)
  })

  it('filters by status', async () => {
    expect(await readAll('status=paused', 1)).toEqual(['old'])
    expect(await readAll('status=archived', 1)).toEqual(['gone'])
    expect(await readAll('status=active', 5)).toEqual([...tied.toReversed(), ...numbered.toReversed()])
  })

  it('reads each row by its id, with any allowed character', async () => {
    for (const row of await readPages<{ id: string }>(api, `${path}?limit=200`, key, page))
      expect((await api.get(`${path}/${row.id}`, key)).json()).toEqual(row)
  })
})

it('an export of metadata of thousands of rows has each one once, in parts of at most 500 rows', async () => {
  const manyKey = await api.account('many')
  await api.stores.postgres`
    INSERT INTO campaigns (account_id, id, name, user_id, status, cost_value, tags, created_at, updated_at, search_text)
    SELECT 'many', 'c' || n, '=' || n, 'u', 'active', -123456789012.345678, ARRAY['=a', 'b|c'], now, now, ''
    FROM generate_series(1, 2001) AS n, (SELECT timestamptz '2026-11-01 00:00:00Z' + interval '1 ms' AS now) AS at`
  const ndjson = (await api.get('/campaigns?format=ndjson', manyKey)).body
  expect(ndjson).toContain('"costValue":-123456789012.345678,')
  const ids = ndjsonRows(ndjson).map(({ id }) => id)
  expect([ids.length, new Set(ids).size]).toEqual([2_001, 2_001])
  // Between two parts, the process responds to other requests.
  const plan = planMetadata('campaigns', {}, { accountId: 'many' })
  const written = { row: Campaign, format: 'ndjson', csvEscape: undefined, selected: undefined } as const
  const { signal } = new AbortController()
  for await (const part of exportMetadata(api.stores.postgresReader, plan, written, signal))
    expect(ndjsonRows(part.toString()).length).toBeLessThanOrEqual(500)
  const { rawPayload } = await api.get('/campaigns?format=parquet', manyKey)
  const statement =
    'SELECT count() AS rows, uniqExact(id) AS ids, any(tags[2]) AS tag, any(toString(costValue)) AS cost'
  expect(await queryParquet(api.stores, rawPayload, statement)).toEqual([
    { rows: 2_001, ids: 2_001, tag: 'b|c', cost: '-123456789012.345678' },
  ])
  const csv = (await api.get('/campaigns?format=csv&csv_escape=formulas', manyKey)).body.split('\n')
  expect(csv.length).toBe(2_003)
  expect(csv[1]).toContain(`,"'=`)
  expect(csv[1]).toContain(',-123456789012.345678,')
  expect(csv[1]).toContain(`"[""=a"",""b|c""]"`)
})
