// @module-tag node

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { negotiateFormat } from '../../src/http/contentNegotiation.ts'
import { packageRoot } from '../../src/package.ts'
import { useTestApp } from '../kit/app.ts'
import { openRaw, rawGet } from '../kit/rawConnection.ts'
import { ndjsonRows } from '../kit/readRows.ts'
import { killQuery, runningQueries, storeClicks, storeLargeClicks, storeMetadata } from '../kit/rows.ts'

const api = useTestApp()
let key: string
let largeKey: string
let url: string

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'c2', name: 'a"b,c' }])
  const clicks = Array.from({ length: 30 }, (_, n) => ({
    id: `k${n}`,
    clicked_at: `2026-03-${10 + (n % 9)} 10:00:00.000`,
    campaign_id: n % 2 ? 'c2' : 'gone',
  }))
  await storeClicks(api.stores, 'acme', clicks)
  largeKey = await api.account('large')
  await storeLargeClicks(api.stores, 'large')
  url = `${await api.app.listen({ port: 0, host: '127.0.0.1' })}/api/v1`
})

describe('content negotiation', () => {
  it.each([
    [undefined, undefined, undefined],
    [undefined, '*/*', undefined],
    [undefined, 'text/html', undefined],
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

  it('gzips the response when the client accepts it', async () => {
    const request = (encoding: string) => api.get('/clicks?format=ndjson', key, { 'accept-encoding': encoding })
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

  it('is a file for the url function of ClickHouse, which sends HEAD first', async () => {
    const count = (format: 'csv' | 'parquet', name: string) =>
      `SELECT count() AS rows, countIf(campaignId = 'c2') AS c2, max(clickedAt) = toDateTime64('2026-03-18 10:00:00.000', 3, 'UTC') AS newest
      FROM url('${url}/clicks?format=${format}', ${name}, headers('Authorization' = 'ApiKey ${key}'))`
    const program = `import { query } from 'chdb'
      for (const statement of process.argv.slice(1)) process.stdout.write(query(statement, 'JSONEachRow'))`
    const counts = [count('csv', 'CSVWithNames'), count('parquet', 'Parquet')]
    const words = ['--input-type=module', '--eval', program, ...counts]
    const read = await promisify(execFile)(process.execPath, words, { cwd: packageRoot })
    expect(ndjsonRows(read.stdout)).toEqual(Array(2).fill({ rows: 30, c2: 15, newest: 1 }))
  })
})

describe('a long export', () => {
  const running = () => runningQueries(api.stores, 'clicks.export')
  /** Sends a request over a new connection: a keep-alive connection would delay the end of the server. */
  async function request(
    path: string,
    { address = '', agent = false as Agent | false } = {},
  ): Promise<IncomingMessage> {
    const headers = { authorization: `ApiKey ${largeKey}` }
    const target = address === '' ? `${url}${path}` : `${address}/api/v1${path}`
    const [response] = (await once(get(target, { headers, agent }), 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    return response
  }
  async function startExport(
    path = '/clicks?format=ndjson',
    server?: Parameters<typeof request>[1],
  ): Promise<IncomingMessage> {
    const response = await request(path, server)
    await once(response, 'readable')
    return response
  }

  it.each([
    ['the request', (text: string) => text.replace('HTTP/1.1', 'HTTP/1.0')],
    ['a proxy, which says so', (text: string) => text.replace('\r\n', '\r\nVia: 1.1 inner, 1.0 outer\r\n')],
  ])(
    'responds 400 to an export over HTTP/1.0 of %s, where a part of it would look complete, and sends pages',
    async (_, over) => {
      const send = async (path: string) => {
        const { socket, received } = await openRaw(
          api.app,
          over(rawGet(path, key).replace('\r\n', '\r\nConnection: close\r\n')),
        )
        await once(socket, 'end')
        return received()
      }
      const refused = await send('/api/v1/clicks?format=ndjson')
      expect([refused.slice(9, 12), refused]).toEqual(['400', expect.stringContaining('proxy_http_version 1.1')])
      expect((await send('/api/v1/clicks')).slice(9, 12)).toBe('200')
    },
  )

  it('breaks the connection when the query of an export fails', async () => {
    const response = await startExport('/clicks?format=csv')
    const [query] = await running()
    let last = ''
    const keep = (chunk: Buffer | null) => {
      if (chunk) last = chunk.toString()
    }
    const ended = expect(finished(response)).rejects.toThrow()
    const bytesPerRead = api.stores.clickhouse.cluster ? 131_072 : 8_192
    await killQuery(api.stores, query?.queryId ?? '', () => keep(response.read(bytesPerRead)))
    response.on('data', keep)
    await ended
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

  it('ends the query of a client that stops reading an export, which loses its slot', async () => {
    let elapsedMs = 0
    const pace = { stallMs: 60_000, spanMs: 600_000, spanBytesMin: 1, checkMs: 20, monotonicMs: () => elapsedMs }
    const server = await api.open({ pace })
    const address = await server.listen({ port: 0, host: '127.0.0.1' })
    for (const response of [await startExport(undefined, { address }), await startExport(undefined, { address })])
      response.on('error', () => {})
    await expect.poll(running).toHaveLength(2)
    const runningLater = () => {
      elapsedMs += 30_000
      return running()
    }
    await expect.poll(runningLater).toEqual([])
    await startExport('/clicks?format=csv&from=2030-01-01', { address })
  })

  it('sends a running export in full when the server stops, also over a connection that the client keeps', async () => {
    const server = await api.open()
    const address = await server.listen({ port: 0, host: '127.0.0.1' })
    const agent = new Agent({ keepAlive: true })
    const response = await startExport('/clicks?format=ndjson&fields=id,referrer', { address, agent })
    const closed = server.close()
    expect(ndjsonRows(await text(response))).toHaveLength(10_000)
    await closed
    agent.destroy()
  })

  it('ends exports that take too long when the server stops', async () => {
    const server = await api.open({ exportGraceMs: 0 })
    const response = await startExport('/clicks?format=ndjson', {
      address: await server.listen({ port: 0, host: '127.0.0.1' }),
    })
    const [ended] = await Promise.allSettled([text(response), server.close()])
    expect(ended.status).toBe('rejected')
  })
})
