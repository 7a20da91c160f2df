// @module-tag all
// @module-tag node

import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import {
  createTributary,
  type Event,
  type QueryOf,
  type TributaryOptions,
} from '../../../src/packages/client/client.ts'
import { storedEvents } from '../../api/events/send.ts'
import { forward, openApiProxy } from '../../kit/apiProxy.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import type { HttpServer } from '../../kit/httpServer.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()
let baseUrl: string
let key: string
let nowMs = testNowMs

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
  const click = (n: number) => ({ id: `c${n}`, clicked_at: `2026-11-20 10:00:0${n}.000`, campaign_id: 'k1' })
  await storeClicks(api.stores, 'acme', [0, 1, 2, 3, 4, 5, 6].map(click))
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
})

/** Waits of the client in milliseconds. A wait advances the clock of the server instead of taking time. */
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
const visit: Event = { visitor_id: 'v1', campaign_id: 'camp', event_name: 'visit' }

async function collect<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}

describe('the client', () => {
  it('reads responses with the types of the OpenAPI document', async () => {
    const { name, status } = await client().get('/campaigns/{id}', { path: { id: 'k1' } })
    expect([name, status]).toEqual(['Spring', 'active'])
    const report = await client({ baseUrl: `${baseUrl}/` }).get('/reports', {
      query: { group_by: 'campaign', from: '2026-11-20' },
    })
    expect(report.data.map(({ name, clicks }) => [name, clicks])).toEqual([['Spring', 7]])
    expect((await client().get('/usage')).clicks.tracked).toBe(7)
  })

  it('reads a list by rows and by pages, with the filters of the first page', async () => {
    const query = { limit: 2, to: '2026-11-20T10:00:06Z' }
    const rows = await collect(client().rows('/clicks', { query }))
    expect(rows.map(({ id }) => id)).toEqual(['c5', 'c4', 'c3', 'c2', 'c1', 'c0'])
    const pages = await collect(client().pages('/clicks', { query: { limit: 3 } }))
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 1])
    expect(await collect(client().rows('/offers'))).toEqual([])
  })

  it('compares all pages of a report with the range of the first one', async () => {
    const apiKey = await api.account('today')
    // An hour later, more of the day before counts.
    const clicked = ['11-21 10', '11-21 10', '11-20 15', '11-20 15', '11-20 15'].map((at) => [at, 'DE'] as const)
    const others = ['11-21 10', '11-21 10', '11-21 10', '11-20 14'].map((at) => [at, 'FR'] as const)
    await storeClicks(
      api.stores,
      'today',
      [...clicked, ...others].map(([at, country], n) => ({ id: `p${n}`, country, clicked_at: `2026-${at}:30:00.000` })),
    )
    const query = { group_by: 'country', days: 1, compare: 'previous_period', sort: '-change.clicks' } as const
    const { data } = await client({ apiKey }).get('/reports', { query })
    const rows: typeof data = []
    for await (const row of client({ apiKey }).rows('/reports', { query: { ...query, limit: 1 } })) {
      rows.push(row)
      api.setNow(testNowMs + rows.length * 3_600_000)
    }
    api.setNow(nowMs)
    expect(rows).toEqual(data)
    expect(data.map(({ id, clicks, previous }) => [id, clicks, previous?.clicks])).toEqual([
      ['DE', 2, 0],
      ['FR', 3, 1],
    ])
  })

  it('takes names as an array and as a text with commas, and filters as conditions and as JSON', async () => {
    const filters = [
      [
        'or',
        [
          ['is', 'campaign_id', ['k1', 'k2']],
          ['contains', 'utm_term', ['x']],
        ],
      ],
      ['>=', 'clicks', 7],
    ] as const
    const metrics: NonNullable<QueryOf<'/reports'>['metrics']>[] = ['clicks', ['clicks', 'profit'], 'clicks,profit']
    for (const one of metrics) {
      for (const conditions of [filters, JSON.stringify(filters)]) {
        const query = { group_by: 'campaign,day', range: 'this_week', filters: conditions, metrics: one } as const
        const { data } = await client().get('/reports', { query: { ...query, count_at: 'click', sort: '-clicks' } })
        expect(data).toMatchObject([{ clicks: 7 }])
        expect('profit' in (data[0] ?? {})).toBe(one !== 'clicks')
      }
    }
    const refused = client().get('/clicks', { query: { filters: [['is', 'nothing' as 'country', ['x']]] } })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_filters' })
  })

  it('exports dimensions that rows do not have, if fields names them', async () => {
    const fields = ['id', 'referrerDomain', 'languageTag'] as const
    const [row] = await collect(client().exportRows('/clicks', { fields }))
    const domain: string | null | undefined = row?.referrerDomain
    expect([domain, row?.languageTag]).toEqual([null, null])
    const [whole] = await collect(client().exportRows('/clicks'))
    // @ts-expect-error not named
    expect(whole?.referrerDomain).toBeUndefined()
  })

  it('sends the values of an array literally, also with the characters of the syntax of lists', async () => {
    const apiKey = await api.account('listed')
    const terms = ['a, b', 'a', ' b', '!a', '!', 'a\\', '\\,', '\\', 'a!']
    const click = (utm_term: string, n: number) => ({ id: `t${n}`, clicked_at: '2026-11-20 10:00:00.000', utm_term })
    await storeClicks(api.stores, 'listed', terms.map(click))
    const found = async (utm_term: string | readonly string[]) =>
      (await collect(client({ apiKey }).rows('/clicks', { query: { utm_term } }))).map((row) => row.utmTerm).sort()
    for (const values of [...terms.map((term) => [term]), terms, terms.toReversed(), ['!a', 'a, b']])
      expect(await found(values)).toEqual(values.toSorted())
    // A text is a list in the syntax of the API.
    expect(await found('a,\\\\')).toEqual(['\\', 'a'])
    await expect(found([])).rejects.toMatchObject({ code: 'invalid_utm_term' })
  })

  it('requests no page that the caller does not read', async () => {
    let requests = 0
    const counting = client({
      fetch: (request) => {
        requests += 1
        return fetch(request)
      },
    })
    for await (const { id } of counting.rows('/clicks', { query: { limit: 2 } })) if (id === 'c5') break
    expect(requests).toBe(1)
  })

  it('throws the error of the API', async () => {
    await expect(client().get('/clicks', { query: { from: 'yesterday' } })).rejects.toMatchObject({
      name: 'TributaryError',
      status: 400,
      code: 'invalid_from',
      param: 'from',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    await expect(client({ apiKey: 'unknown' }).get('/clicks')).rejects.toMatchObject({ code: 'invalid_api_key' })
    await expect(client({ baseUrl: `${baseUrl}/elsewhere` }).get('/clicks')).rejects.toMatchObject({ status: 404 })
    expect(waits).toEqual([])
  })

  it('refuses a key with a line break or another wrong character before a request, without showing it', async () => {
    for (const [apiKey, fault] of [
      [`${key}\ntrb_live_second`, 'a line break'],
      [`${key}\r\nx: y`, 'a line break'],
      [`${key} ${key}`, 'a space or another'],
      [`${key}\u200b`, 'a space or another'],
      [`${key}\0`, 'a space or another'],
      [`\u201c${key}\u201d`, 'a space or another'],
      [key.repeat(12), '1 to 512 characters'],
      [' \n', '1 to 512 characters'],
    ] as const) {
      const refused = () => client({ apiKey, fetch: () => Promise.reject(new Error('sent')) })
      expect(refused).toThrow(fault)
      expect(refused).not.toThrow(key.slice(9))
    }
    expect((await client({ apiKey: `\ufeff ${key}\r\n` }).get('/key')).accountId).toBe('acme')
  })

  it('stores an event once when its response is lost, and returns its id', async () => {
    const lossy = await openLossyProxy()
    const sent = await client({ baseUrl: lossy.url }).sendEvent(event)
    expect(sent).toEqual({ accepted: true, deduplicated: true, eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect((await storedEvents(api.stores, 'acme')).map(({ id }) => id)).toEqual([sent.eventId])
    expect(await client().sendEvent({ ...event, event_id: 'mine' })).toEqual({ accepted: true, eventId: 'mine' })
    await lossy.close()
  })

  it('sends events in batches, each stored once when a response is lost, and returns the rejected ones', async () => {
    const apiKey = await api.account('batched')
    await storeMetadata(api.stores, 'campaigns', 'batched', [{ id: 'camp' }])
    const lossy = await openLossyProxy()
    async function* source() {
      for (let n = 0; n < 5; n++) yield { ...visit, event_id: `batched-${n}` }
      yield { ...visit, event_name: '1st', event_id: 'wrong' }
      yield visit
    }
    const sent = await client({ apiKey, baseUrl: lossy.url }).sendEvents(source(), { batchSize: 3 })
    await lossy.close()
    expect(sent).toMatchObject({ stored: 3, deduplicated: 3, overCeiling: 0 })
    expect(sent.rejected).toMatchObject([
      { eventId: 'wrong', error: 'invalid_event_name', param: 'event_name', event: { event_name: '1st' } },
    ])
    expect(await collect(client({ apiKey }).events({ query: { visitor_id: 'v1', limit: 4 } }))).toHaveLength(6)
    const query = { from: '2026-01-01', to: '2026-12-31' }
    const { steps } = await client({ apiKey }).funnel(['visit', 'signup'], { query })
    expect(steps.map(({ step, entered }) => [step, entered])).toEqual([
      ['visit', 1],
      ['signup', 0],
    ])
    const journey = await collect(client({ apiKey }).journey({ visitor_id: 'v1' }))
    expect(journey.map((row) => row.kind === 'event' && row.eventName)).toEqual(Array(6).fill('visit'))
  })

  it('sends batches below every limit of the API, and its error has the outcome of earlier batches', async () => {
    const apiKey = await api.account('limits')
    await storeMetadata(api.stores, 'campaigns', 'limits', [{ id: 'camp' }])
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`p${n}`, n]))
    const complex = Array.from({ length: 1_000 }, () => ({ ...visit, properties: many }))
    expect(await client({ apiKey }).sendEvents(complex)).toMatchObject({ stored: 1_000, rejected: [] })
    const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)
    const events = [visit, { ...visit, event_name: '1st' }, { ...visit, properties: { deep } }]
    await expect(client({ apiKey }).sendEvents(events, { batchSize: 1 })).rejects.toMatchObject({
      status: 413,
      sent: { stored: 1, deduplicated: 0, rejected: [{ error: 'invalid_event_name' }] },
    })
  })

  it('sends a batch that is not full after its time, while the source is still open', async () => {
    const apiKey = await api.account('slow')
    await storeMetadata(api.stores, 'campaigns', 'slow', [{ id: 'camp' }])
    const source = new Readable({ objectMode: true, read() {} })
    source.push({ ...visit, event_id: 'first' })
    const sent = client({ apiKey }).sendEvents(source, { batchMs: 1 })
    await expect.poll(async () => (await storedEvents(api.stores, 'slow')).map(({ id }) => id)).toEqual(['first'])
    source.push(null)
    expect(await sent).toEqual({ stored: 1, deduplicated: 0, overCeiling: 0, rejected: [] })
  })

  it('throws the error of a batch, and ends when its signal aborts, while the source waits for its next event', async () => {
    async function* source() {
      yield visit
      await new Promise(() => {})
    }
    const rejected = client({ apiKey: 'trb_live_wrong' }).sendEvents(source(), { batchMs: 1 })
    await expect(rejected).rejects.toMatchObject({ status: 401 })
    const ending = new AbortController()
    const waiting = client({ apiKey: 'trb_live_wrong' }).sendEvents(source(), {
      batchMs: 60_000,
      signal: ending.signal,
    })
    ending.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  it('ends the source when a batch fails', async () => {
    let hasEnded = false
    function* source() {
      try {
        for (;;) yield visit
      } finally {
        hasEnded = true
      }
    }
    const rejected = client({ apiKey: 'trb_live_wrong' }).sendEvents(source(), { batchSize: 2 })
    await expect(rejected).rejects.toMatchObject({ status: 401 })
    expect(hasEnded).toBe(true)
  })

  it('waits as long as Retry-After says when the rate limit is reached, then continues', async () => {
    await setPlanLimits(api.stores.postgres, 'pro', { requestsPerMinute: 3 })
    const apiKey = await api.account('limited', { plan: 'pro' })
    const limited = client({ apiKey })
    for (let call = 0; call < 4; call++) await limited.get('/usage')
    expect(waits).toEqual([60_000])
    for (let call = 0; call < 2; call++) await limited.get('/usage')
    const shortWait = client({ apiKey, waitMaxMs: 1_000 })
    await expect(shortWait.get('/usage')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
    expect(waits).toEqual([60_000])
  })

  it('throws the last error after its retries, with a longer wait before each one', async () => {
    const unreachable = client({ baseUrl: 'http://127.0.0.1:1', retries: 3 })
    await expect(unreachable.get('/usage')).rejects.toThrow('fetch failed')
    expect(waits.map((ms, attempt) => ms > 330 * 2 ** attempt && ms <= 500 * 2 ** attempt)).toEqual([true, true, true])
  })

  it('ends immediately when its signal aborts, also during a wait', async () => {
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

describe('exportRows', () => {
  it('yields the rows of the list, in their order, each with its cursor', async () => {
    const exported = await collect(client().exportRows('/clicks', { query: { campaign_id: 'k1' } }))
    expect(exported.map(({ cursor: _, ...row }) => row)).toEqual(await collect(client().rows('/clicks')))
    const cursor = exported[2]?.cursor ?? ''
    const rest = client().exportRows('/clicks', { query: { campaign_id: 'k1', cursor } })
    expect((await collect(rest)).map(({ id }) => id)).toEqual(['c3', 'c2', 'c1', 'c0'])
    expect(await collect(client().exportRows('/conversions'))).toEqual([])
  })

  it('continues after the last row whenever the connection breaks, with the selected fields, and reports the first X-As-Of once', async () => {
    // Every response ends in the middle of its second row.
    const proxy = await openProxy({ afterLines: 1 })
    const asOf: string[] = []
    const broken = client({ baseUrl: proxy.url, retries: 1 })
    const selected = { fields: ['clickedAt', 'campaignId'] as const, onAsOf: (time: string) => asOf.push(time) }
    const rows = await collect(broken.exportRows('/clicks', selected))
    expect(proxy.responses()).toBe(7)
    expect(asOf).toEqual([expect.stringMatching(/^\d{4}-.*Z$/)])
    const complete = await collect(client().exportRows('/clicks'))
    expect(rows).toEqual(
      complete.map(({ id, clickedAt, campaignId, cursor }) => ({ id, clickedAt, campaignId, cursor })),
    )
    // @ts-expect-error the field is not selected
    expect(rows[0]?.country).toBeUndefined()
    await proxy.close()
  })

  it('continues when a proxy ends a broken export like a complete one', async () => {
    const proxy = await openProxy({ afterLines: 3, isEnded: true })
    const rows = await collect(client({ baseUrl: proxy.url, retries: 1 }).exportRows('/clicks'))
    expect(rows).toEqual(await collect(client().exportRows('/clicks')))
    await proxy.close()
  })

  it('yields the same rows in batches that are not empty, also after broken connections', async () => {
    const rows = await collect(client().exportRows('/clicks'))
    const whole = await collect(client().exportBatches('/clicks'))
    expect(whole.flat()).toEqual(rows)
    const proxy = await openProxy({ afterLines: 3 })
    const batches = await collect(client({ baseUrl: proxy.url, retries: 1 }).exportBatches('/clicks'))
    expect(batches.flat()).toEqual(rows)
    expect(batches.length).toBeGreaterThan(1)
    expect(batches.filter(({ length }) => length === 0)).toEqual([])
    await proxy.close()
  })

  it('fails when interruptions follow each other without a row between', async () => {
    const proxy = await openProxy()
    const rows = collect(client({ baseUrl: proxy.url, retries: 2 }).exportRows('/clicks'))
    await expect(rows).rejects.toThrow()
    expect([proxy.responses(), waits.length]).toEqual([3, 2])
    await proxy.close()
  })

  it('ends the response when the caller leaves the loop or aborts', async () => {
    let cancelled = 0
    const line = new TextEncoder().encode('{"id":"c1","cursor":"x"}\n')
    const endless = client({
      fetch: async (request) => {
        const body = new ReadableStream({
          pull: (controller) => controller.enqueue(line),
          cancel: () => {
            cancelled += 1
          },
        })
        request.signal.throwIfAborted()
        return new Response(body)
      },
    })
    for await (const { id } of endless.exportRows('/clicks')) if (id === 'c1') break
    expect(cancelled).toBe(1)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(endless.exportRows('/clicks', { signal }).next()).rejects.toThrow('enough')
  })
})

it('compiles only with names that the API has; get and rows have no format, and an export no limit', () => {
  const neverCalled = (tributary: ReturnType<typeof client>) => [
    // @ts-expect-error a page is always JSON
    tributary.get('/clicks', { query: { format: 'csv' } }),
    // @ts-expect-error a report is always JSON
    tributary.get('/reports', { query: { group_by: 'day', csv_escape: 'formulas' } }),
    // @ts-expect-error rows are read from JSON pages
    tributary.rows('/conversions', { query: { format: 'ndjson' } }),
    // @ts-expect-error an export has all rows
    tributary.exportRows('/clicks', { query: { limit: 5 } }),
    // @ts-expect-error a report is no list
    tributary.exportRows('/reports', { query: { group_by: 'day' } }),
    tributary.get('/reports', { query: { group_by: ['campaign', 'sub1'], metrics: ['clicks'], sort: '-epc' } }),
    tributary.exportRows('/clicks', { fields: ['sub1', 'clickedAt'] }),
    tributary.get('/conversions/search', { query: { q: 'luma', fields: 'campaignName' } }),
    // @ts-expect-error no such dimension
    tributary.get('/reports', { query: { group_by: ['campaign', 'planet'] } }),
    tributary.rows('/reports', { query: { group_by: 'campaign,country', filters: '[["is","country",["US"]]]' } }),
    // @ts-expect-error no such dimension
    tributary.rows('/reports', { query: { group_by: 'planet,country' } }),
    // @ts-expect-error no such operator
    tributary.get('/clicks', { query: { filters: [['equals', 'country', ['US']]] } }),
    // @ts-expect-error no such metric
    tributary.get('/reports', { query: { group_by: 'day', metrics: 'profits' } }),
    // @ts-expect-error no such order
    tributary.get('/reports', { query: { group_by: 'day', sort: '+clicks' } }),
    // @ts-expect-error no such field
    tributary.exportRows('/clicks', { fields: ['colour'] }),
    // @ts-expect-error a click has no payout
    tributary.exportFile('/clicks', 'csv', { fields: ['payout'] }),
    // @ts-expect-error no such field to search
    tributary.get('/campaigns/search', { query: { q: 'luma', fields: ['cost'] } }),
  ]
  expect(neverCalled).toBeTypeOf('function')
})

it('get retries a page after its connection breaks in the middle', async () => {
  const proxy = await openProxy({ isBroken: (response) => response === 1 })
  const { data } = await client({ baseUrl: proxy.url }).get('/clicks')
  expect([data.length, proxy.responses()]).toEqual([7, 2])
  await proxy.close()
})

interface Break {
  /** Whether to break the response with this number, from 1 on; by default each of them. */
  isBroken?: (response: number) => boolean
  /** Complete lines to send, with a part of the next one; the last line of a body is followed by its end. */
  afterLines?: number
  /** Whether the end of a part looks like the end of the response. */
  isEnded?: boolean
}

/** A proxy that sends the beginning of responses and then breaks the connection. */
async function openProxy({ isBroken = () => true, afterLines = 0, isEnded = false }: Break = {}) {
  let responses = 0
  const proxy = await openApiProxy(baseUrl, {
    async answer(outgoing, response) {
      responses += 1
      const body = await buffer(response)
      outgoing.writeHead(response.statusCode ?? 0, response.headers)
      const lines = body.toString().split('\n')
      const cut = Buffer.byteLength(lines.slice(0, afterLines).join('\n')) + 100
      if (!isBroken(responses) || cut >= body.length) return outgoing.end(body)
      if (isEnded) outgoing.end(body.subarray(0, cut))
      else outgoing.write(body.subarray(0, cut), () => outgoing.destroy())
    },
  })
  return { ...proxy, responses: () => responses }
}

function openLossyProxy(): Promise<HttpServer> {
  let isLost = false
  return openApiProxy(baseUrl, {
    answer(outgoing, response) {
      if (isLost) return forward(outgoing, response)
      isLost = true
      response.resume().once('end', () => outgoing.destroy())
    },
  })
}
