// @module-tag node

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { Click, ClickPage } from '../../schema/click.ts'
import { Conversion, ConversionPage } from '../../schema/conversion.ts'
import { negotiateFormat } from '../../src/http/contentNegotiation.ts'
import { packageRoot } from '../../src/package.ts'
import { useTestApp } from '../kit/app.ts'
import { queryParquet } from '../kit/parquet.ts'
import { csvRows, ndjsonRows, readPages } from '../kit/readRows.ts'
import { runningQueries, storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'

const api = useTestApp()
let key: string
let largeKey: string
let url: string
const awkward = 'a"b,c\\n\r\nd\t/ \u2028 é 漢 😀 \' null'
/** Rows of 4 kB: more bytes than the buffers between the store and a stalled reader hold. */
const large = 10_000

beforeAll(async () => {
  key = await api.account('acme', { currency: 'EUR' })
  await api.account('other')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'c1', name: awkward }, { id: 'c2' }])
  await storeMetadata(api.stores, 'offers', 'acme', [{ id: 'o1', name: 'Offer' }])
  await storeMetadata(api.stores, 'offers', 'other', [{ id: 'o2', name: 'Theirs' }])
  const stored_at = '2026-04-01 00:00:00.000'
  const full = {
    ...{ id: 'full', clicked_at: '2026-03-29 00:59:59.999', campaign_id: 'c1', offer_id: 'o1', landing_page_id: 'l' },
    ...{ traffic_source_id: 's', visitor_id: 'v', country: 'DE', region: awkward, city: '漢', device: 'mobile' },
    ...{ os: awkward, os_version: '1', browser: 'b', browser_version: '2', language: 'de', referrer: awkward },
    ...{ user_agent: awkward, ip: '192.0.2.0', sub1: awkward, sub10: '"', external_click_id: 'x', utm_source: 'u' },
    ...{ utm_medium: 'm', utm_campaign: 'c', utm_term: 't', utm_content: awkward, cost: '-12.000001', currency: 'USD' },
    ...{ cost_base: '1.5', is_bot: true, is_test: true, stored_at },
  }
  const clickedAt = (n: number) => `2026-03-0${1 + (n % 9)} 10:00:00.000`
  const campaignOf = (n: number) => (n % 2 ? 'c2' : 'gone')
  const clicks = [
    full,
    ...Array.from({ length: 30 }, (_, n) => ({
      ...{ id: `k${n}`, clicked_at: clickedAt(n), stored_at, campaign_id: campaignOf(n), offer_id: 'o2', cost: 0.1 },
    })),
  ]
  await storeClicks(api.stores, 'acme', clicks)
  await storeClicks(api.stores, 'acme', clicks.slice(0, 5))
  await storeClicks(api.stores, 'other', [{ ...full, city: 'theirs' }])
  const of = (n: number) => ({
    ...{ click_id: `k${n}`, click_at: clickedAt(n), clicked_at: clickedAt(n) },
    ...{ click_campaign_id: campaignOf(n), click_offer_id: 'o2' },
  })
  const converted_at = '2026-03-10 00:00:00.000'
  const conversions = [
    { id: 'v0', converted_at, status: 'pending', revenue: '12.000001', revenue_base: '0.3', ...of(0) },
    { id: 'v1', converted_at, campaign_id: 'c1', coupon_code: awkward, ...of(0) },
    { id: 'v2', converted_at: '2026-03-11 00:00:00.000', source: 'revenue', sub1: awkward, payout: 5, ...of(1) },
    { id: 'v3', converted_at: '2026-03-12 00:00:00.000', is_test: true, ...of(2) },
    { id: 'v4', converted_at: '2026-03-13 00:00:00.000', status: 'hold', transaction_id: awkward, offer_id: 'o1' },
    { id: 'v5', converted_at: '2026-03-14 00:00:00.000', status: 'pending' },
  ]
  await storeConversions(api.stores, 'acme', conversions)
  await storeConversions(api.stores, 'acme', [
    { id: 'v0', converted_at, status: 'refunded', version: 2, ...of(0) },
    { id: 'v5', converted_at: '2026-03-14 00:00:00.000', version: 2, is_deleted: 1 },
    { id: 'v5', converted_at: '2026-02-14 00:00:00.000', version: 3 },
  ])
  await storeConversions(api.stores, 'other', [{ id: 'v0', converted_at, event_name: 'theirs' }])
  largeKey = await api.account('large')
  await api.stores.clickhouse.client.command({
    query: `INSERT INTO clicks (account_id, clicked_at, id, referrer)
      SELECT 'large', toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number, toString(number), repeat('x', 4000)
      FROM numbers(${large})`,
  })
  url = `${await api.app.listen({ port: 0, host: '127.0.0.1' })}/api/v1`
})

const rowsByPage = (path: string): Promise<object[]> =>
  path.startsWith('/clicks')
    ? readPages(api, `${path}&limit=7`, key, ClickPage)
    : readPages(api, `${path}&limit=7`, key, ConversionPage)

const lists = [
  '/clicks?',
  '/clicks?converted=false&campaign_id=gone',
  '/clicks?offer_id=o1&from=2026-03-03',
  '/conversions?include_test_mode=true',
  '/conversions?status=pending',
  '/conversions?campaign_id=c1&from=2026-03-01',
]

describe('an export has the rows of the pages, in their order and with their fields', () => {
  it.each(lists)('%s as NDJSON and CSV', async (path) => {
    const pages = await rowsByPage(path)
    const ndjson = await api.get(`${path}&format=ndjson`, key)
    expect([ndjson.statusCode, ndjson.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    const rows = ndjsonRows(ndjson.body)
    expect(rows.map(({ cursor: _, ...row }) => row)).toEqual(pages)
    const { properties } = path.startsWith('/clicks') ? Click : Conversion
    for (const row of rows) expect(Object.keys(row)).toEqual([...Object.keys(properties), 'cursor'])

    const csv = await api.get(`${path}&format=csv`, key)
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const cellOf = (value: unknown) =>
      typeof value === 'object' && value !== null ? JSON.stringify(value) : `${value ?? ''}`
    const cells = pages.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)])),
    )
    const parsed = (await csvRows(csv.body)).map(({ cursor: _, ...record }) => ({
      ...record,
      subIds: JSON.stringify(JSON.parse(`${record.subIds}`)),
    }))
    expect(parsed).toEqual(cells)
  })

  it.each(['/clicks?', '/conversions?include_test_mode=true'])('%s as Parquet', async (path) => {
    const response = await api.get(`${path}&format=parquet`, key)
    expect(response.headers['content-type']).toBe('application/vnd.apache.parquet')
    expect(await queryParquet(api.stores, response.rawPayload, 'SELECT * EXCEPT cursor')).toEqual(
      await rowsByPage(path),
    )
  })

  it('exports the columns when there are no rows', async () => {
    const { rawPayload } = await api.get('/clicks?format=parquet&from=2030-01-01', key)
    const columns = (await queryParquet<{ name: string }>(api.stores, rawPayload, 'DESCRIBE')).map(({ name }) => name)
    expect(columns).toEqual([...Object.keys(Click.properties), 'cursor'])
    expect((await api.get('/clicks?format=ndjson&from=2030-01-01', key)).body).toBe('')
    expect((await api.get('/clicks?format=csv&from=2030-01-01', key)).body).toMatch(/^"id",.*"cursor"\n$/)
  })
})

describe('an export continues after the cursor of a row', () => {
  it.each(['/clicks?converted=false', '/conversions?status=approved,refunded,hold'])('%s', async (path) => {
    const rows = ndjsonRows((await api.get(`${path}&format=ndjson`, key)).body)
    const [first, second] = rows
    const rest = await api.get(`${path}&format=ndjson&cursor=${first?.cursor}`, key)
    expect(ndjsonRows(rest.body)).toEqual(rows.slice(1))
    expect((await api.get(`${path}&limit=1&cursor=${first?.cursor}`, key)).json().data[0].id).toBe(second?.id)
    const { nextCursor } = (await api.get(`${path}&limit=1`, key)).json()
    expect((await api.get(`${path}&format=ndjson&cursor=${nextCursor}`, key)).body).toBe(rest.body)
  })

  it('rejects a cursor of other filters', async () => {
    const [row] = ndjsonRows((await api.get('/clicks?format=ndjson', key)).body)
    const response = await api.get(`/clicks?campaign_id=c2&format=csv&cursor=${row?.cursor}`, key)
    expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_cursor'])
  })
})

describe('content negotiation', () => {
  it.each([
    [undefined, undefined, undefined],
    [undefined, '*/*', undefined],
    [undefined, 'text/html', undefined],
    [undefined, 'application/x-ndjson', 'ndjson'],
    [undefined, 'Text/CSV; charset=utf-8', 'csv'],
    [undefined, 'application/x-ndjson;charset="UTF-8"', 'ndjson'],
    [undefined, 'text/csv; header=absent', undefined],
    [undefined, '*/*, text/csv', 'csv'],
    [undefined, 'text/*', 'csv'],
    [undefined, 'text/csv, application/json', 'csv'],
    [undefined, 'application/json, text/csv', undefined],
    [undefined, 'text/csv;q=0.5, application/vnd.apache.parquet;q=0.9, */*;q=0.1', 'parquet'],
    [undefined, 'text/csv;q=0', undefined],
    ['json', 'text/csv', undefined],
    ['csv', 'application/json', 'csv'],
  ] as const)('format %s, Accept %s: %s', (format, accept, wanted) => {
    expect(negotiateFormat(['ndjson', 'csv', 'parquet'], format, accept)).toBe(wanted)
  })

  it('selects the format by Accept, for lists, reports and the daily series', async () => {
    for (const path of ['/clicks', '/conversions', '/reports?group_by=device', '/stats/daily']) {
      const response = await api.app.inject({
        url: `/api/v1${path}`,
        headers: { authorization: `ApiKey ${key}`, accept: 'text/csv' },
      })
      expect([response.statusCode, response.headers['content-type']]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
      ])
      expect(response.body).toMatch(/^"id",/)
    }
  })

  it('rejects a limit of a format other than JSON, and a format that an endpoint does not have', async () => {
    for (const [path, code] of [
      ['/clicks?format=csv&limit=5', 'invalid_limit'],
      ['/reports?group_by=device&format=parquet', 'invalid_format'],
    ] as const) {
      const response = await api.get(path, key)
      expect([response.statusCode, response.json().error]).toEqual([400, code])
    }
  })

  it('gzips the response when the client accepts it', async () => {
    const request = (encoding: string) =>
      api.app.inject({
        url: '/api/v1/clicks?format=ndjson',
        headers: { authorization: `ApiKey ${key}`, 'accept-encoding': encoding },
      })
    // In sequence: an account has two concurrent exports.
    const plain = await request('identity')
    const gzipped = await request('br, gzip')
    const refused = await request('gzip;q=0')
    expect([plain.headers['content-encoding'], refused.headers['content-encoding']]).toEqual([undefined, undefined])
    expect(gzipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: expect.stringContaining('accept-encoding'),
    })
    expect(gunzipSync(gzipped.rawPayload).toString()).toBe(plain.body)
  })

  it('responds to HEAD without a body', async () => {
    const headers = { authorization: `ApiKey ${key}` }
    const response = await api.app.inject({ method: 'HEAD', url: '/api/v1/clicks?format=csv', headers })
    expect([response.statusCode, response.body, response.headers['content-length']]).toEqual([200, '', undefined])
  })

  it('is a file for the url function of ClickHouse, which sends HEAD first', async () => {
    const count = (format: 'csv' | 'parquet', name: string) =>
      `SELECT count() AS rows, countIf(campaignId = 'c2') AS c2, max(clickedAt) = toDateTime64('2026-03-29 00:59:59.999', 3, 'UTC') AS newest
      FROM url('${url}/clicks?format=${format}', ${name}, headers('Authorization' = 'ApiKey ${key}'))`
    const program = `import { query } from 'chdb'
      for (const statement of process.argv.slice(1)) process.stdout.write(query(statement, 'JSONEachRow'))`
    const read = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program, count('csv', 'CSVWithNames'), count('parquet', 'Parquet')],
      { cwd: packageRoot },
    )
    expect(ndjsonRows(read.stdout)).toEqual(Array(2).fill({ rows: 31, c2: 15, newest: 1 }))
  })
})

describe('reports and daily series as CSV', () => {
  it.each(['/reports?group_by=campaign&from=2026-03-01&to=2026-03-31', '/stats/daily?days=3'])('%s', async (path) => {
    const { data } = (await api.get(path, key)).json<{ data: Record<string, unknown>[] }>()
    const response = await api.get(`${path}&format=csv`, key)
    const [header, ...lines] = response.body.split('\n').slice(0, -1)
    expect(header).toBe(
      Object.keys(data[0] ?? {})
        .map((name) => `"${name}"`)
        .join(','),
    )
    const unquoted = lines.join('\n').replaceAll('"', '')
    expect(unquoted).toBe(
      data
        .map((row) =>
          Object.values(row)
            .map((value) => `${value ?? ''}`.replaceAll('"', ''))
            .join(','),
        )
        .join('\n'),
    )
    const headers = { authorization: `ApiKey ${key}`, 'if-none-match': `${response.headers.etag}` }
    expect((await api.app.inject({ url: `/api/v1${path}&format=csv`, headers })).statusCode).toBe(304)
    expect((await api.app.inject({ url: `/api/v1${path}`, headers })).statusCode).toBe(200)
  })
})

describe('a long export', () => {
  const running = () => runningQueries(api.stores, 'clicks.export')
  /** Sends a request over a new connection: a keep-alive connection would delay the end of the server. */
  async function request(path: string): Promise<IncomingMessage> {
    const headers = { authorization: `ApiKey ${largeKey}` }
    const [response] = (await once(get(`${url}${path}`, { headers, agent: false }), 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    return response
  }
  /** Starts an export and waits for its first bytes. */
  async function startExport(path = '/clicks?format=ndjson'): Promise<IncomingMessage> {
    const response = await request(path)
    await once(response, 'readable')
    return response
  }

  it('breaks the connection when the query of an export fails', async () => {
    const response = await startExport('/clicks?format=csv')
    const [query] = await running()
    let isKilled = false
    const killing = api.stores.clickhouse.client
      .command({ query: `KILL QUERY WHERE query_id = '${query?.queryId}' ASYNC` })
      .then(() => {
        isKilled = true
      })
    let last = ''
    const keep = (chunk: Buffer | null) => {
      if (chunk) last = chunk.toString()
    }
    const ended = expect(finished(response)).rejects.toThrow()
    // TRAP: a query that waits for its reader delays the KILL that ends it until its block is read, so the test continues
    // to read, but so slowly that the whole export takes longer than a block of 1 MB. The receiving node of a cluster merges
    // all rows into one block; it reports the KILL after them.
    const bytesPerRead = api.stores.clickhouse.cluster ? 131_072 : 8_192
    while (!isKilled) {
      keep(response.read(bytesPerRead))
      await pause(5)
    }
    response.on('data', keep)
    await Promise.all([ended, killing])
    expect(last).not.toContain('xception')
  })

  it('allows an account two concurrent exports, so that others are not blocked, and ends their queries on disconnect', async () => {
    const exports = [await startExport(), await startExport()]
    const third = await api.get('/clicks?format=csv', largeKey)
    expect([third.statusCode, third.json().error, third.headers['retry-after']]).toEqual([429, 'rate_limited', '5'])
    expect((await api.get('/clicks?format=csv', key)).statusCode).toBe(200)
    for (const response of exports) response.destroy()
    await expect.poll(running, { timeout: 20_000 }).toEqual([])
    await expect.poll(async () => (await api.get('/clicks?format=csv&from=2030-01-01', largeKey)).statusCode).toBe(200)
  })

  it('sends a long export in full', async () => {
    const ids = ndjsonRows(await text(await request('/clicks?format=ndjson&fields=id,referrer'))).map(({ id }) => id)
    expect(ids.length).toBe(large)
    expect(ids[0]).toBe(`${large - 1}`)
    expect(ids.every((id, index) => Number(id) === large - 1 - index)).toBe(true)
  })

  it('ends exports when the server stops', async () => {
    const response = await startExport()
    const [ended] = await Promise.allSettled([text(response), api.app.close()])
    expect(ended.status).toBe('rejected')
  })
})
