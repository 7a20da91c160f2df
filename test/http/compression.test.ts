// @module-tag node

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'
import { storeClicks } from '../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  const clicks = Array.from({ length: 50 }, (_, n) => ({
    id: `c${n}`,
    clicked_at: '2026-11-20 10:00:00.000',
    sub1: `${n}`,
  }))
  await storeClicks(api.stores, 'acme', clicks)
})

const send = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  api.app.inject({ method, url: `/api/v1${path}`, headers: { authorization: `ApiKey ${key}`, ...headers } })

describe('a JSON response above 1 KiB', () => {
  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0.1, gzip;q=0.2', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ] as const)('is compressed with what the client prefers: %s', async (accepted, coding, decode) => {
    const plain = await send('/clicks')
    const response = await send('/clicks', { 'accept-encoding': accepted })
    expect(response.headers).toMatchObject({
      'content-encoding': coding,
      'content-length': `${response.rawPayload.length}`,
      'content-type': 'application/json; charset=utf-8',
      vary: 'accept-encoding',
    })
    expect(decode(response.rawPayload).toString()).toBe(plain.body)
    expect(response.rawPayload.length).toBeLessThan(plain.rawPayload.length / 5)
  })

  it.each(['', 'identity', 'gzip;q=0', 'zstd'])(
    'is not compressed for a client that accepts "%s"',
    async (accepted) => {
      const { headers, body } = await send('/clicks', accepted ? { 'accept-encoding': accepted } : {})
      expect(headers).toMatchObject({ 'content-length': `${body.length}`, vary: 'accept-encoding' })
      expect(headers).not.toHaveProperty('content-encoding')
    },
  )

  it('has the same headers as the response to HEAD', async () => {
    const accepted = { 'accept-encoding': 'gzip' }
    const [get, head] = [await send('/clicks', accepted), await send('/clicks', accepted, 'HEAD')]
    expect(head.body).toBe('')
    for (const name of ['content-encoding', 'content-length', 'vary'])
      expect(head.headers[name]).toBe(get.headers[name])
  })

  it('has one ETag for all codings, and a 304 says what the response depends on', async () => {
    const path = '/stats/daily?days=30'
    const [plain, coded] = [await send(path), await send(path, { 'accept-encoding': 'br' })]
    expect([coded.headers['content-encoding'], coded.headers.etag]).toEqual(['br', plain.headers.etag])
    const again = await send(path, { 'accept-encoding': 'gzip', 'if-none-match': `${coded.headers.etag}` })
    expect([again.statusCode, again.body, again.headers['content-encoding']]).toEqual([304, '', undefined])
    expect(again.headers.vary).toBe('accept-encoding')
  })
})

it('responses that are not compressed are those up to 1 KiB', async () => {
  for (const path of ['/key', '/clicks?limit=0', '/offers']) {
    const { headers } = await send(path, { 'accept-encoding': 'br, gzip' })
    expect(headers).not.toHaveProperty('content-encoding')
  }
})
