import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { Caller } from '../../src/http/caller.ts'
import { openResponseCache, type ResponseCacheOptions } from '../../src/http/responseCache.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'
import { storeClicks } from '../kit/rows.ts'

let api: TestApp
let key: string
let stored = 0

beforeAll(async () => {
  api = await openTestApp({ ttlMs: 60_000 })
  key = await api.account('acme')
})
afterAll(() => api?.close())

const storeClick = () =>
  storeClicks(api.stores, 'acme', [{ id: `c${stored++}`, clicked_at: '2026-11-21 10:00:00.000', country: 'US' }])
const ask = (path: string, headers: Record<string, string> = {}, from = api.app) =>
  from.inject({ url: `/api/v1${path}`, headers: { authorization: `ApiKey ${key}`, ...headers } })
/** Each test asks a question of its own, so that none finds the answer of another. */
let day = 1
const question = () => `/reports?group_by=country&days=${++day}`

describe('an answer of stats and reports', () => {
  it('is kept, and says of when it is', async () => {
    const path = question()
    const first = await ask(path)
    await storeClick()
    api.setNow(testNowMs + 1_000)
    const second = await ask(path)
    api.setNow(testNowMs)
    expect(second.body).toBe(first.body)
    expect(second.json().asOf).toBe(new Date(testNowMs).toISOString())
  })

  it('is written as if it were not kept', async () => {
    const answer = await ask(question())
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.stringify(answer.json())).toBe(answer.body)
    expect(Object.keys(answer.json()).at(-1)).toBe('asOf')
  })

  it('is kept for no more than its life', async () => {
    const answers = openResponseCache({ ttlMs: 0 })
    const app = await buildApp({
      settings: api.stores.settings,
      stores: api.stores,
      responseCache: answers,
      now: () => testNowMs,
    })
    const path = question()
    const before = (await ask(path, {}, app)).json().totals.clicks
    await storeClick()
    expect((await ask(path, {}, app)).json().totals.clicks).toBe(before + 1)
    await app.close()
  })

  it('is never given to another account, whatever it asks', async () => {
    const path = question()
    await storeClick()
    expect((await ask(path)).json().totals.clicks).toBeGreaterThan(0)
    const other = await api.account('other')
    expect((await api.get(path, other)).json().totals.clicks).toBe(0)
  })

  it('is no answer to other parameters or another endpoint', async () => {
    await storeClick()
    const bodies = await Promise.all(
      ['/stats/overview?days=3', '/stats/daily?days=3', '/stats/daily?days=4', '/stats/daily?days=3&campaign_id=x'].map(
        async (path) => (await ask(path)).body,
      ),
    )
    expect(new Set(bodies).size).toBe(4)
  })

  it('is revalidated for nothing: 304 without a body while the numbers are the same', async () => {
    const path = question()
    const { headers } = await ask(path)
    expect(headers['cache-control']).toBe('private, no-cache')
    const etag = String(headers.etag)
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    for (const ifNoneMatch of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const answer = await ask(path, { 'if-none-match': ifNoneMatch })
      expect([answer.statusCode, answer.body, answer.headers.etag]).toEqual([304, '', etag])
      expect(answer.headers).toHaveProperty('x-ratelimit-remaining')
    }
    expect((await ask(path, { 'if-none-match': '"x"' })).statusCode).toBe(200)
  })

  it('has an ETag that tells the numbers apart, not the moments', async () => {
    const answers = openResponseCache({ ttlMs: 0 })
    let nowMs = testNowMs
    const app = await buildApp({
      settings: api.stores.settings,
      stores: api.stores,
      responseCache: answers,
      now: () => nowMs,
    })
    const path = question()
    const first = await ask(path, {}, app)
    nowMs += 60_000
    const later = await ask(path, {}, app)
    expect(later.json().asOf).not.toBe(first.json().asOf)
    expect(later.headers.etag).toBe(first.headers.etag)
    await storeClick()
    expect((await ask(path, {}, app)).headers.etag).not.toBe(first.headers.etag)
    await app.close()
  })
})

/** A run that the test ends when it likes. */
interface Run {
  signal: AbortSignal
  end: (answer: { asOf: string; rows?: string }) => void
  fail: (error: Error) => void
}

/** A server with one route, `/:account/question`, and the runs that it began. */
async function openRoom(options: ResponseCacheOptions = {}) {
  const answers = openResponseCache(options)
  const runs: Run[] = []
  const seen = { arrived: 0, hungUp: 0 }
  const app = Fastify({ forceCloseConnections: true })
  app.addHook('onRequestAbort', async (_request) => {
    seen.hungUp += 1
  })
  app.addHook('onRequest', async (request) => {
    seen.arrived += 1
    request.caller = { accountId: (request.params as { account: string }).account } as Caller
  })
  app.get('/:account/question', (request, reply) =>
    answers.send(request, reply, (signal) => new Promise((end, fail) => runs.push({ signal, end, fail }))),
  )
  const url = await app.listen({ port: 0 })
  return {
    runs,
    seen,
    get: (path: string, init: RequestInit = {}) => fetch(url + path, init),
    close: () => app.close(),
  }
}

const asOf = '2026-11-21T15:00:00.000Z'

describe('a run', () => {
  it('serves all who ask the same at the same time, and nobody else', async () => {
    const { runs, get, close } = await openRoom()
    const equal = Array.from({ length: 20 }, () => get('/acme/question?a=1'))
    const others = [get('/acme/question?a=2'), get('/other/question?a=1')]
    await vi.waitFor(() => expect(runs).toHaveLength(3))
    for (const [index, run] of runs.entries()) run.end({ rows: `${index}`, asOf })
    const bodies = await Promise.all([...equal, ...others].map(async (answer) => (await answer).text()))
    expect(new Set(bodies.slice(0, 20)).size).toBe(1)
    expect(new Set(bodies).size).toBe(3)
    expect(runs).toHaveLength(3)
    await close()
  })

  it('that fails is told to all who wait, and not kept', async () => {
    const { runs, get, close } = await openRoom()
    const both = [get('/acme/question'), get('/acme/question')]
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    runs[0]?.fail(new Error('broken'))
    expect(await Promise.all(both.map(async (answer) => (await answer).status))).toEqual([500, 500])
    const next = get('/acme/question')
    await vi.waitFor(() => expect(runs).toHaveLength(2))
    runs[1]?.end({ asOf })
    expect((await next).status).toBe(200)
    await close()
  })

  it('that began longer ago than an answer may be old is not joined', async () => {
    const { runs, get, close } = await openRoom({ ttlMs: 1 })
    const first = get('/acme/question')
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    const startedMs = performance.now()
    await vi.waitFor(() => expect(performance.now() - startedMs).toBeGreaterThan(1))
    const second = get('/acme/question')
    await vi.waitFor(() => expect(runs).toHaveLength(2))
    for (const run of runs) run.end({ asOf })
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    await close()
  })

  it('is ended when the last of its callers has hung up, and not before', async () => {
    const { runs, seen, get, close } = await openRoom()
    const callers = [new AbortController(), new AbortController(), new AbortController()]
    const calls = callers.map(({ signal }) => get('/acme/question', { signal }).catch((error: Error) => error.name))
    await vi.waitFor(() => expect(seen.arrived).toBe(3))
    callers[0]?.abort()
    callers[1]?.abort()
    await vi.waitFor(() => expect(seen.hungUp).toBe(2))
    expect(runs[0]?.signal.aborted).toBe(false)
    callers[2]?.abort()
    await vi.waitFor(() => expect(seen.hungUp).toBe(3))
    expect(runs[0]?.signal.aborted).toBe(true)
    expect(await Promise.all(calls)).toEqual(['AbortError', 'AbortError', 'AbortError'])
    expect(runs).toHaveLength(1)

    const next = get('/acme/question')
    await vi.waitFor(() => expect(runs).toHaveLength(2))
    runs[1]?.end({ rows: 'x', asOf })
    expect(await (await next).text()).toBe(JSON.stringify({ rows: 'x', asOf }))
    await close()
  })
})

describe('kept answers', () => {
  it('take no more memory than they may', async () => {
    const { runs, get, close } = await openRoom({ ttlMs: 60_000, bytesMax: 25_000 })
    const askFor = async (number: number) => {
      const begun = runs.length
      const answer = get(`/acme/question?n=${number}`)
      // A kept answer begins no run.
      await Promise.race([answer, vi.waitFor(() => expect(runs.length).toBeGreaterThan(begun))])
      runs[begun]?.end({ rows: 'x'.repeat(10_000), asOf })
      await (await answer).text()
      return runs.length > begun
    }
    expect([await askFor(1), await askFor(2), await askFor(2), await askFor(1)]).toEqual([true, true, false, false])
    expect([await askFor(3), await askFor(1), await askFor(2)]).toEqual([true, false, true])
    await close()
  })
})
