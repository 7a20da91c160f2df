import Fastify from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Caller } from '../../src/http/caller.ts'
import { openResponseCache, type ResponseCacheOptions } from '../../src/http/responseCache.ts'
import { getFrom, testNowMs, useTestApp } from '../kit/app.ts'
import { storeClicks } from '../kit/rows.ts'

const api = useTestApp({ responseCache: openResponseCache({ ttlMs: 60_000 }) })
let key: string
let stored = 0

beforeAll(async () => {
  key = await api.account('acme')
})

const storeClick = () =>
  storeClicks(api.stores, 'acme', [{ id: `c${stored++}`, clicked_at: '2026-11-21 10:00:00.000', country: 'US' }])
const request = (path: string, headers: Record<string, string> = {}, from = api.app) =>
  getFrom(from, path, key, headers)
/** @returns another query for each test, so that none reads the cached response of another test */
let day = 1
const uniquePath = () => `/reports?group_by=country&days=${++day}`

describe('a cached response', () => {
  it('caches a response with the time of its data', async () => {
    const path = uniquePath()
    const first = await request(path)
    await storeClick()
    api.setNow(testNowMs + 1_000)
    const second = await request(path)
    api.setNow(testNowMs)
    expect(second.body).toBe(first.body)
    expect(second.json().asOf).toBe(new Date(testNowMs).toISOString())
  })

  it('caches a response for its TTL at most', async () => {
    let elapsedMs = 5
    const app = await api.open({ responseCache: openResponseCache({ ttlMs: 2_000, monotonicMs: () => elapsedMs }) })
    const path = uniquePath()
    const clicks = async () => (await request(path, {}, app)).json().totals.clicks
    const before = await clicks()
    await storeClick()
    elapsedMs += 2_000
    expect(await clicks()).toBe(before)
    elapsedMs += 1
    expect(await clicks()).toBe(before + 1)
  })

  it('responds 304 without a body while the data is unchanged', async () => {
    const path = uniquePath()
    const { headers } = await request(path)
    expect(headers['cache-control']).toBe('private, no-cache')
    const etag = String(headers.etag)
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    for (const ifNoneMatch of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const response = await request(path, { 'if-none-match': ifNoneMatch })
      expect([response.statusCode, response.body, response.headers.etag]).toEqual([304, '', etag])
      expect(response.headers).toHaveProperty('x-ratelimit-remaining')
    }
    expect((await request(path, { 'if-none-match': '"x"' })).statusCode).toBe(200)
  })

  it('has an ETag of the data, independent of asOf', async () => {
    let nowMs = testNowMs
    const app = await api.open({ now: () => nowMs })
    const path = uniquePath()
    const first = await request(path, {}, app)
    nowMs += 60_000
    const later = await request(path, {}, app)
    expect(later.json().asOf).not.toBe(first.json().asOf)
    expect(later.headers.etag).toBe(first.headers.etag)
    await storeClick()
    expect((await request(path, {}, app)).headers.etag).not.toBe(first.headers.etag)
  })
})

interface Run {
  signal: AbortSignal
  end: (response: { asOf: string; rows?: string }) => void
  fail: (error: Error) => void
}

/** Opens a server with one route, `/:account/query`, and records its queries. */
async function openCacheServer(options: ResponseCacheOptions = {}) {
  const cache = openResponseCache(options)
  const runs: Run[] = []
  const seen = { arrived: 0, disconnected: 0 }
  const app = Fastify({ forceCloseConnections: true })
  app.addHook('onRequestAbort', async (_request) => {
    seen.disconnected += 1
  })
  app.addHook('onRequest', async (request) => {
    const { account } = request.params as { account: string }
    const caller: Partial<Caller> = { accountId: account, view: null, scopes: new Set() }
    request.caller = caller as Caller
  })
  app.get('/:account/query', (request, reply) => {
    seen.arrived += 1
    return cache.send(request, reply, (signal) => new Promise((end, fail) => runs.push({ signal, end, fail })))
  })
  const url = await app.listen({ port: 0 })
  return {
    runs,
    seen,
    get: (path: string, init: RequestInit = {}) => fetch(url + path, init),
    close: () => app.close(),
  }
}

const asOf = '2026-11-21T15:00:00.000Z'

describe('a shared query', () => {
  it('shares one query among concurrent identical requests only', async () => {
    const { runs, seen, get, close } = await openCacheServer()
    const equal = Array.from({ length: 20 }, () => get('/acme/query?a=1'))
    const others = [get('/acme/query?a=2'), get('/other/query?a=1')]
    await expect.poll(() => seen.arrived).toBe(22)
    for (const [index, run] of runs.entries()) run.end({ rows: `${index}`, asOf })
    const bodies = await Promise.all([...equal, ...others].map(async (response) => (await response).text()))
    expect(new Set(bodies.slice(0, 20)).size).toBe(1)
    expect(new Set(bodies).size).toBe(3)
    expect(runs).toHaveLength(3)
    await close()
  })

  it('sends the error of a shared query to all its requests, and does not cache it', async () => {
    const { runs, seen, get, close } = await openCacheServer()
    const both = [get('/acme/query'), get('/acme/query')]
    await expect.poll(() => seen.arrived).toBe(2)
    expect(runs).toHaveLength(1)
    runs[0]?.fail(new Error('broken'))
    expect(await Promise.all(both.map(async (response) => (await response).status))).toEqual([500, 500])
    const next = get('/acme/query')
    await expect.poll(() => runs.length).toBe(2)
    runs[1]?.end({ asOf })
    expect((await next).status).toBe(200)
    await close()
  })

  it('does not join a query that started longer ago than the TTL', async () => {
    let elapsedMs = 5
    const { runs, get, close } = await openCacheServer({ ttlMs: 2_000, monotonicMs: () => elapsedMs })
    const first = get('/acme/query')
    await expect.poll(() => runs.length).toBe(1)
    elapsedMs += 2_000
    const second = get('/acme/query')
    await expect.poll(() => runs.length).toBe(2)
    for (const run of runs) run.end({ asOf })
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    await close()
  })

  it('aborts a shared query when its last client has disconnected, and not before', async () => {
    const { runs, seen, get, close } = await openCacheServer()
    const callers = [new AbortController(), new AbortController(), new AbortController()]
    const calls = callers.map(({ signal }) => get('/acme/query', { signal }).catch((error: Error) => error.name))
    await expect.poll(() => seen.arrived).toBe(3)
    callers[0]?.abort()
    callers[1]?.abort()
    await expect.poll(() => seen.disconnected).toBe(2)
    expect(runs[0]?.signal.aborted).toBe(false)
    callers[2]?.abort()
    await expect.poll(() => seen.disconnected).toBe(3)
    expect(runs[0]?.signal.aborted).toBe(true)
    expect(await Promise.all(calls)).toEqual(['AbortError', 'AbortError', 'AbortError'])
    expect(runs).toHaveLength(1)

    const next = get('/acme/query')
    await expect.poll(() => runs.length).toBe(2)
    runs[1]?.end({ rows: 'x', asOf })
    expect(await (await next).text()).toBe(JSON.stringify({ rows: 'x', asOf }))
    await close()
  })
})

it('the cache limits the memory of cached responses', async () => {
  const { runs, seen, get, close } = await openCacheServer({ ttlMs: 60_000, bytesMax: 25_000 })
  const requestNumber = async (number: number) => {
    const [startedRuns, arrived] = [runs.length, seen.arrived]
    const response = get(`/acme/query?n=${number}`)
    // A response that is not cached starts its run on arrival.
    await expect.poll(() => seen.arrived).toBe(arrived + 1)
    runs[startedRuns]?.end({ rows: 'x'.repeat(10_000), asOf })
    await (await response).text()
    return runs.length > startedRuns
  }
  const isRun = []
  for (const number of [1, 2, 2, 1, 3, 1, 2]) isRun.push(await requestNumber(number))
  expect(isRun).toEqual([true, true, false, false, true, false, true])
  await close()
})
