import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { createTributary, type Event, type RowOf, type TributaryOptions } from '../../src/client/client.ts'
import { storedEvents } from '../api/events/send.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'
import { storeClicks, storeMetadata } from '../kit/rows.ts'

let api: TestApp
let baseUrl: string
let key: string
let nowMs = testNowMs

beforeAll(async () => {
  api = await openTestApp()
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
  const clicks = Array.from({ length: 7 }, (_, n) => ({ id: `c${n}`, clicked_at: `2026-11-20 10:00:0${n}.000` }))
  await storeClicks(
    api.stores,
    'acme',
    clicks.map((click) => ({ ...click, campaign_id: 'k1' })),
  )
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => api?.close())

/** Its waits move the server's clock instead of taking time; they are kept, in milliseconds. */
const waits: number[] = []
afterEach(() => waits.splice(0))
const client = (options: Partial<TributaryOptions> = {}) =>
  createTributary({
    baseUrl,
    apiKey: key,
    async wait(ms) {
      waits.push(ms)
      nowMs += ms
      api.setNow(nowMs)
    },
    ...options,
  })

const event: Event = { click_id: 'c1', event_name: 'paid' }

describe('the client', () => {
  it('reads what the API answers, with the types of its document', async () => {
    const { name, status } = await client().get('/campaigns/{id}', { path: { id: 'k1' } })
    expect([name, status]).toEqual(['Spring', 'active'])
    const report = await client({ baseUrl: `${baseUrl}/` }).get('/reports', {
      query: { group_by: 'campaign', from: '2026-11-20' },
    })
    expect(report.data.map(({ name, clicks }) => [name, clicks])).toEqual([['Spring', 7]])
    expect((await client().get('/usage')).clicks.tracked).toBe(7)
  })

  it('walks a list row by row and page by page, with the filters of the first page', async () => {
    const query = { limit: 2, to: '2026-11-20T10:00:06Z' }
    const rows: RowOf<'/clicks'>[] = []
    for await (const row of client().rows('/clicks', { query })) rows.push(row)
    expect(rows.map(({ id }) => id)).toEqual(['c5', 'c4', 'c3', 'c2', 'c1', 'c0'])
    const sizes: number[] = []
    for await (const { data } of client().pages('/clicks', { query: { limit: 3 } })) sizes.push(data.length)
    expect(sizes).toEqual([3, 3, 1])
    for await (const _row of client().rows('/offers')) throw new Error('There is none.')
  })

  it('asks for no page that nobody reads', async () => {
    let asked = 0
    const counting = client({
      fetch: (request) => {
        asked += 1
        return fetch(request)
      },
    })
    for await (const { id } of counting.rows('/clicks', { query: { limit: 2 } })) if (id === 'c5') break
    expect(asked).toBe(1)
  })

  it('throws what the API says of a bad call', async () => {
    await expect(client().get('/clicks', { query: { from: 'yesterday' } })).rejects.toMatchObject({
      name: 'TributaryError',
      status: 400,
      code: 'invalid_from',
      param: 'from',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    await expect(client({ apiKey: 'nobody' }).get('/clicks')).rejects.toMatchObject({ code: 'invalid_api_key' })
    await expect(client({ baseUrl: `${baseUrl}/elsewhere` }).get('/clicks')).rejects.toMatchObject({ status: 404 })
    expect(waits).toEqual([])
  })

  it('stores an event once when its answer is lost, under an id that it tells', async () => {
    const lossy = await openLossyWay()
    const sent = await client({ baseUrl: lossy.url }).sendEvent(event)
    expect(sent).toEqual({ accepted: true, deduplicated: true, eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect((await storedEvents(api.stores, 'acme')).map(({ id }) => id)).toEqual([sent.eventId])
    expect(await client().sendEvent({ ...event, event_id: 'mine' })).toEqual({ accepted: true, eventId: 'mine' })
    await lossy.close()
  })

  it('waits for as long as the API asks when it has sent too much, and goes on', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 3 })
    const apiKey = await api.account('poor', { plan: 'pro' })
    const poor = client({ apiKey })
    for (let call = 0; call < 4; call++) await poor.get('/usage')
    expect(waits).toEqual([60_000])
    for (let call = 0; call < 2; call++) await poor.get('/usage')
    const impatient = client({ apiKey, waitMaxMs: 1_000 })
    await expect(impatient.get('/usage')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
    expect(waits).toEqual([60_000])
  })

  it('gives up after its tries, waiting longer each time, with the last failure', async () => {
    const away = client({ baseUrl: 'http://127.0.0.1:1', retries: 3 })
    await expect(away.get('/usage')).rejects.toThrow('fetch failed')
    expect(waits.map((ms, attempt) => ms > 330 * 2 ** attempt && ms <= 500 * 2 ** attempt)).toEqual([true, true, true])
  })

  it('ends at once when its caller says so, waiting too', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client().get('/usage', { signal })).rejects.toThrow('enough')
    const ending = new AbortController()
    const waiting = createTributary({
      baseUrl,
      apiKey: key,
      fetch: async () => {
        setImmediate(() => ending.abort(new Error('enough')))
        return new Response(null, { status: 503, headers: { 'retry-after': '30' } })
      },
    })
    await expect(waiting.get('/usage', { signal: ending.signal })).rejects.toThrow('enough')
  })
})

/** A way to the server that carries the first request there and loses its answer. */
async function openLossyWay(): Promise<{ url: string; close(): Promise<void> }> {
  let isLost = false
  const proxy = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const there = forward(`${baseUrl}${url}`, { method, headers }, (answer) => {
      if (isLost) {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(outgoing)
        return
      }
      isLost = true
      answer.resume().once('end', () => incoming.socket.destroy())
    })
    incoming.pipe(there)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
