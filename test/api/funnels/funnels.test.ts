import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FunnelQuery, FunnelResponse } from '../../../schema/funnel.ts'
import type { Scope } from '../../../schema/scopes.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { copiedKeysMax, copiedKeysSql } from '../../../src/api/funnels/copies.ts'
import type { CopyRanges } from '../../../src/api/funnels/copyRanges.ts'
import { type FunnelPlan, planFunnel } from '../../../src/api/funnels/plan.ts'
import { funnelSql } from '../../../src/api/funnels/sql.ts'
import { readStoredEvents } from '../../../src/api/funnels/storedEvents.ts'
import { render } from '../../../src/stores/clickhouse/sql.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import {
  changeTables,
  type StoredRow,
  startMerges,
  stopMerges,
  storeClicks,
  storeConversions,
  storeEvents,
  storeMetadata,
} from '../../kit/rows.ts'
import { type ModelQuery, modelFunnel } from './model.ts'

let api: TestApp
let key: string
/** While true, the time of the response cache stands still; otherwise each reading is after all expiries. */
let isCaching = false
let cacheMs = 0

beforeAll(async () => {
  api = await openTestApp({
    ttlMs: 1_000,
    monotonicMs() {
      if (!isCaching) cacheMs += 10_000
      return cacheMs
    },
  })
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
})
afterAll(() => api?.close())

const dayMs = 86_400_000
const firstMs = Date.UTC(2026, 10, 1)

/** Few moments, so that rows often share one. */
const moment = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom(0, 0, 1, 1_800_000, 3_600_000, 3_600_001, 80_000_000))
  .map(([day, ms]) => new Date(firstMs + day * dayMs + ms).toISOString().replace('T', ' ').slice(0, 23))
const visitor = fc.constantFrom('', 'v1', 'v1', 'v1', 'v2')
const clickId = fc.constantFrom('', 'c1', 'c2', 'c3', 'c4', 'v1', 'unknown')
const campaign = fc.constantFrom('', 'k1', 'k2')

const rows = fc.record({
  clicks: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('c1', 'c2', 'c3', 'c4', 'v1'),
      clicked_at: moment,
      visitor_id: visitor,
      campaign_id: campaign,
      country: fc.constantFrom('', 'DE', 'FR'),
      device: fc.constantFrom('mobile', 'desktop'),
      traffic_source_id: fc.constantFrom('', 't1'),
      is_bot: fc.nat(5).map((n) => n === 0),
      is_test: fc.nat(5).map((n) => n === 0),
    }),
    { selector: ({ id }) => id, maxLength: 5 },
  ),
  events: fc.uniqueArray(
    fc
      .record({
        id: fc.nat(60).map((n) => `e${n}`),
        origin: fc.constantFrom('server', 'browser'),
        occurred_at: moment,
        event_name: fc.constantFrom('a', 'a', 'b', 'c', 'click'),
        click_id: clickId,
        visitor_id: visitor,
        campaign_id: campaign,
      })
      .map((event) => ({ ...event, visitor_id: event.visitor_id || (event.click_id ? '' : 'v1') })),
    { selector: ({ id, origin }) => `${origin} ${id}`, minLength: 20, maxLength: 40 },
  ),
  copies: fc.array(
    fc.record({
      of: fc.nat(19),
      laterMs: fc.constantFrom(0, 1, 1_800_000, 80_000_000),
      event_name: fc.constantFrom('a', 'b', 'c', 'click'),
      click_id: clickId,
      visitor_id: fc.constantFrom('v1', 'v2'),
      campaign_id: campaign,
    }),
    { minLength: 4, maxLength: 10 },
  ),
  conversions: fc.uniqueArray(
    fc.record({
      id: fc.nat(20).map((n) => `s${n}`),
      converted_at: moment,
      status: fc.constantFrom('approved', 'approved', 'pending'),
      click_id: clickId,
      visitor_id: visitor,
      campaign_id: campaign,
      country: fc.constantFrom('', 'DE'),
      is_test: fc.nat(5).map((n) => n === 0),
    }),
    { selector: ({ id }) => id, maxLength: 6 },
  ),
})
type Rows = typeof rows extends fc.Arbitrary<infer T> ? T : never

/** Copies of events that merges remove, since they were received later. */
function copiesOf({ events, copies }: Rows): StoredRow[] {
  return copies.map(({ of, laterMs, ...values }) => {
    const { id, origin, occurred_at } = events[of] as Rows['events'][number]
    const atMs = Date.parse(`${occurred_at.replace(' ', 'T')}Z`) + laterMs
    const at = (epochMs: number) => new Date(epochMs).toISOString().replace('T', ' ').slice(0, 23)
    return { ...values, id, origin, occurred_at: at(atMs), received_at: at(atMs + 1) }
  })
}

const step = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', 'event:click', 'click', 'conversion', 'event:a')
const queries = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 5 }).map((steps) => steps.join(',')),
  by: fc.constantFrom('visitor', 'visitor', 'click'),
  window: fc.constantFrom('1h', '1d', '7d', '7d'),
  days: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 })),
  group_by: fc.constantFrom(undefined, 'campaign', 'country', 'device', 'traffic_source'),
  country: fc.constantFrom(undefined, undefined, undefined, 'DE', '!DE', '(not set),FR', '!(not set)'),
  campaign_id: fc.constantFrom(undefined, undefined, undefined, 'k1', '!k1'),
})
type Query = typeof queries extends fc.Arbitrary<infer T> ? T : never

const windows: Record<string, number> = { '1h': 3_600_000, '1d': dayMs, '7d': 7 * dayMs }

/** @returns the path of a query and the query of the model */
function requestOf({ days: [first, more], window, ...query }: Query): [path: string, model: ModelQuery] {
  const fromMs = firstMs + first * dayMs
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const parameters = { ...query, window, from: date(fromMs), to: date(fromMs + more * dayMs) }
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined) as [string, string][]
  const model = { ...query, windowMs: windows[window] as number, fromMs, untilMs: fromMs + (more + 1) * dayMs }
  return [`/funnels?${new URLSearchParams(given)}`, model as ModelQuery]
}

/** Plans a funnel of the first days of November. */
function planOf(accountId: string, query: Pick<FunnelQuery, 'steps' | 'by' | 'group_by'>): FunnelPlan {
  const caller = { accountId, scopes: new Set<Scope>(), retained: { clicksMs: 0, eventsMs: 0 } }
  return planFunnel({ ...query, from: '2026-11-01', to: '2026-11-10' }, caller, testNowMs)
}

async function read(path: string, reader = key): Promise<FunnelResponse> {
  return await api.read(path, reader, FunnelResponse)
}

describe('GET /funnels', () => {
  it('matches a plain model on random lives with ties, repeated steps and unmerged copies', async () => {
    await stopMerges(api.stores, 'pixel_events')
    let lives = 0
    const reached = new Set<number>()
    try {
      await fc.assert(
        fc.asyncProperty(rows, fc.array(queries, { minLength: 8, maxLength: 8 }), async (given, requests) => {
          lives += 1
          const account = `life-${lives}`
          const reader = await api.account(account)
          if (given.clicks.length > 0) await storeClicks(api.stores, account, given.clicks)
          if (given.conversions.length > 0) await storeConversions(api.stores, account, given.conversions)
          const copies = copiesOf(given)
          await storeEvents(api.stores, account, copies.slice(0, 2))
          await storeEvents(api.stores, account, given.events as StoredRow[])
          await storeEvents(api.stores, account, copies.slice(2))
          await Promise.all(
            requests.map(async (request) => {
              const [path, model] = requestOf(request)
              const expected = modelFunnel(given, model)
              const { steps, data } = await read(path, reader)
              const found = data?.map(({ id, steps }) => ({ id, steps }))
              expect([path, steps, found]).toEqual([path, expected.steps, expected.data])
              reached.add(expected.steps.filter(({ entered }) => entered > 0).length)
            }),
          )
        }),
        { numRuns: randomCases(4), endOnFailure: true },
      )
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
    // Otherwise the lives would test too few chains.
    expect([...reached].toSorted()).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]))
  })

  it('counts an event that is stored twice once, by its earliest row, before and after a merge', async () => {
    const reader = await api.account('twice')
    const event = (id: string, event_name: string, time: string, received: string, more: StoredRow = {}) => ({
      ...{ id, event_name, visitor_id: id, campaign_id: 'k1' },
      ...{ occurred_at: `2026-11-${time}`, received_at: `2026-11-${received}`, ...more },
    })
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'twice', [
        event('paid', 'purchase', '02 10:00:00.000', '02 10:00:00.000'),
        event('moved', 'visit', '02 23:59:59.000', '02 23:59:59.000'),
        event('s', 'signup', '02 10:00:00.000', '02 10:00:02.000', { visitor_id: 'other' }),
        event('again', 'visit', '02 10:00:00.000', '02 10:00:00.000'),
        event('again', 'visit', '02 11:00:00.000', '04 11:00:00.000', { generation: 1 }),
      ])
      await storeEvents(api.stores, 'twice', [
        event('paid', 'purchase', '02 10:00:05.000', '02 10:00:05.000'),
        // A copy in the range of an event before it, and one with another name.
        event('moved', 'visit', '03 00:00:01.000', '03 00:00:01.000'),
        event('s', 'visit', '02 09:59:00.000', '02 09:59:00.000', { visitor_id: 'early' }),
        event('again', 'visit', '02 10:00:01.000', '02 10:00:01.000'),
      ])
      const numbers = async () => {
        const paths = ['purchase,purchase', 'visit,visit', 'visit,signup', 'purchase,signup'].flatMap((steps) =>
          ['02', '03'].map((day) => `/funnels?steps=${steps}&from=2026-11-${day}&to=2026-11-${day}`),
        )
        const groups = '&group_by=campaign&campaign_id=k1'
        // An account may have eight concurrent reads.
        const ungrouped = await Promise.all(paths.map((path) => read(path, reader)))
        const grouped = await Promise.all(paths.map((path) => read(path + groups, reader)))
        return [...ungrouped, ...grouped].map(({ steps }) => steps.map(({ entered }) => entered))
      }
      const expected = [
        ...[
          [1, 0],
          [0, 0],
        ], // purchase twice
        ...[
          [3, 1],
          [0, 0],
        ], // visit twice: `again` is two events
        ...[
          [3, 0],
          [0, 0],
        ],
        ...[
          [1, 0],
          [0, 0],
        ],
      ]
      expect(await numbers()).toEqual([...expected, ...expected])
      await startMerges(api.stores, 'pixel_events')
      await changeTables(api.stores, 'OPTIMIZE TABLE pixel_events FINAL')
      expect(await numbers()).toEqual([...expected, ...expected])
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('reads only events with copies again: an id of both origins, or used again later, is no copy', async () => {
    await api.account('reused')
    const event = { id: 'x', visitor_id: 'v', occurred_at: '2026-11-02 10:00:00.000' }
    const later = { ...event, generation: 1, occurred_at: '2026-11-03 10:00:01.000' }
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'reused', [event, { ...event, origin: 'browser' }, later])
      const query = { steps: 'visit,signup', from: '2026-11-01', to: '2026-11-04' }
      const caller = { accountId: 'reused', scopes: new Set<Scope>(), retained: { clicksMs: 0, eventsMs: 0 } }
      const occurred = [{ fromMs: firstMs, untilMs: firstMs + 10 * dayMs }]
      const { text, params } = render(
        copiedKeysSql(planFunnel(query, caller, testNowMs), { occurred, accepted: undefined }),
      )
      const copies = async () => {
        const found = await api.stores.clickhouse.client.query({
          ...{ query: text, query_params: params, format: 'JSONEachRow' },
        })
        return (await found.json()).length
      }
      expect(await copies()).toBe(0)
      await storeEvents(api.stores, 'reused', [later])
      expect(await copies()).toBe(1)
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('groups events that were received, or stored, in the ranges of these times', async () => {
    await api.account('accepted')
    const event = { visitor_id: 'v', occurred_at: '2026-11-02 10:00:00.000' }
    const [inside, outside] = ['2026-11-02 10:00:00.000', '2026-11-05 10:00:00.000']
    await stopMerges(api.stores, 'pixel_events')
    try {
      for (let copy = 0; copy < 2; copy++) {
        await storeEvents(api.stores, 'accepted', [
          { ...event, id: 'received', received_at: inside, stored_at: outside },
          { ...event, id: 'stored', received_at: outside, stored_at: inside },
          { ...event, id: 'neither', received_at: outside, stored_at: outside },
        ])
      }
      const query = { steps: 'visit,signup', from: '2026-11-01', to: '2026-11-04' }
      const caller = { accountId: 'accepted', scopes: new Set<Scope>(), retained: { clicksMs: 0, eventsMs: 0 } }
      const range = [{ fromMs: firstMs, untilMs: firstMs + 3 * dayMs }]
      const count = async (ranges: CopyRanges) => {
        const { text, params } = render(copiedKeysSql(planFunnel(query, caller, testNowMs), ranges))
        const found = await api.stores.clickhouse.client.query({
          ...{ query: text, query_params: params, format: 'JSONEachRow' },
        })
        return (await found.json()).length
      }
      expect(await count({ occurred: range, accepted: undefined })).toBe(3)
      expect(await count({ occurred: range, accepted: { received: range, stored: range } })).toBe(2)
      expect(await count({ occurred: range, accepted: { received: range, stored: [] } })).toBe(1)
      expect(await count({ occurred: range, accepted: { received: [], stored: range } })).toBe(1)
      const before = [{ fromMs: firstMs - dayMs, untilMs: firstMs }]
      expect(await count({ occurred: before, accepted: { received: range, stored: range } })).toBe(0)
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('counts an event once although its unmerged copies have times three days apart', async () => {
    const reader = await api.account('apart')
    const sent = { id: 'x', visitor_id: 'v', received_at: '2026-11-05 10:00:00.000' }
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'apart', [{ ...sent, occurred_at: '2026-11-02 10:00:00.000' }])
      await storeEvents(api.stores, 'apart', [{ ...sent, occurred_at: '2026-11-05 10:00:00.000' }])
      const { steps } = await api.read(
        '/funnels?steps=visit,visit&window=30d&from=2026-11-01&to=2026-11-10',
        reader,
        FunnelResponse,
      )
      expect(steps.map(({ entered }) => entered)).toEqual([1, 0])
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('counts an event once although its unmerged copies were stored days apart, as by a repeated account import', async () => {
    const reader = await api.account('later')
    const visit = (id: string, day: string) => ({
      ...{ id, visitor_id: id, occurred_at: `2026-11-${day} 10:00:00.000`, stored_at: `2026-11-${day} 10:00:00.000` },
    })
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'later', [visit('w', '02'), visit('x', '05')])
      await storeEvents(api.stores, 'later', [{ ...visit('x', '05'), stored_at: '2026-11-08 10:00:00.000' }])
      await storeEvents(api.stores, 'later', [visit('y', '09')])
      const { steps } = await read('/funnels?steps=visit,visit&window=30d&from=2026-11-01&to=2026-11-10', reader)
      expect(steps.map(({ entered }) => entered)).toEqual([3, 0])
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('counts an event once although its unmerged copies were received weeks apart, as by an import beside the API', async () => {
    const reader = await api.account('imported')
    const visit = (id: string, occurred: string, received: string) => ({
      ...{ id, visitor_id: id, occurred_at: `2026-11-${occurred} 10:00:00.000` },
      ...{ received_at: `2026-11-${received} 10:00:00.000`, stored_at: '2026-11-20 10:00:00.000' },
    })
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'imported', [visit('x', '05', '05'), visit('w', '06', '06')])
      await storeEvents(api.stores, 'imported', [visit('x', '06', '20')])
      const { steps } = await read('/funnels?steps=visit,visit&window=30d&from=2026-11-01&to=2026-11-10', reader)
      expect(steps.map(({ entered }) => entered)).toEqual([2, 0])
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('counts each event once, also if more have copies than a query lists', async () => {
    const reader = await api.account('copied')
    const listed = 30_000
    const events = Array.from({ length: copiedKeysMax + 1 }, (_, n) => ({
      ...{ id: `m${n}`, visitor_id: `v${n}`, occurred_at: `2026-11-0${n < listed ? 2 : 8} 10:00:00.000` },
    }))
    await stopMerges(api.stores, 'pixel_events')
    try {
      await storeEvents(api.stores, 'copied', events)
      await storeEvents(api.stores, 'copied', events)
      for (const [to, entered] of [
        ['02', listed],
        ['08', copiedKeysMax + 1],
      ]) {
        const { steps } = await read(
          `/funnels?steps=visit,visit&window=1h&group_by=country&from=2026-11-02&to=2026-11-${to}`,
          reader,
        )
        expect(steps.map((step) => step.entered)).toEqual([entered, 0])
      }
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('takes visitors and countries from clicks, whether the account has few clicks per event or many', async () => {
    for (const clicks of [2, 40]) {
      const account = `clicks${clicks}`
      const reader = await api.account(account)
      const click = (n: number) => ({ clicked_at: '2026-11-01 10:00:00.000', country: n === 1 ? 'DE' : 'FR' })
      await storeClicks(
        api.stores,
        account,
        Array.from({ length: clicks }, (_, n) => ({ ...click(n), id: `c${n}`, visitor_id: `v${n}` })),
      )
      const event = { click_id: 'c1', occurred_at: '2026-11-02 10:00:00.000' }
      await storeEvents(api.stores, account, [
        { ...event, id: '1', event_name: 'visit', visitor_id: 'v1' },
        { ...event, id: '2', event_name: 'signup' },
      ])
      const { data } = await read('/funnels?steps=visit,signup&group_by=country&from=2026-11-01&to=2026-11-10', reader)
      expect(data?.map(({ id, steps }) => [id, ...steps.map(({ entered }) => entered)])).toEqual([['DE', 1, 1]])
    }
  })

  it('reads all clicks for a join only if these are at most four times the events that are joined', async () => {
    await api.account('seldom')
    const clicks = Array.from({ length: 12 }, (_, n) => ({ id: `c${n}`, clicked_at: '2026-11-01 10:00:00.000' }))
    await storeClicks(api.stores, 'seldom', clicks)
    const event = { event_name: 'visit', click_id: 'c1', occurred_at: '2026-11-02 10:00:00.000' }
    await storeEvents(api.stores, 'seldom', [
      ...Array.from({ length: 10 }, (_, n) => ({ ...event, id: `v${n}`, visitor_id: `v${n}` })),
      { ...event, id: 'p', event_name: 'purchase', visitor_id: 'v1' },
      { ...event, id: 's', event_name: 'signup' },
    ])
    const { signal } = new AbortController()
    for (const [query, areJoined, first, later] of [
      [{ steps: 'visit,purchase', group_by: 'country' }, false, true, false],
      [{ steps: 'visit,signup', group_by: 'country' }, true, true, false],
      [{ steps: 'purchase,visit', group_by: 'country' }, false, false, false],
      [{ steps: 'visit,signup' }, true, false, false],
      [{ steps: 'visit,signup', by: 'click' }, false, false, false],
    ] as const) {
      const found = await readStoredEvents(api.stores, planOf('seldom', query), signal)
      expect([query, found]).toEqual([query, { copies: [], areJoined, readsAllClicks: { first, later } }])
    }
  })

  it('leaves out events without a visitor that were stored after a query has found none', async () => {
    await api.account('late')
    const clicks = ['c1', 'c2'].map((id) => ({ id, clicked_at: '2026-11-01 10:00:00.000', visitor_id: `of-${id}` }))
    await storeClicks(api.stores, 'late', clicks)
    const event = (id: string, event_name: string, more: StoredRow) => ({
      ...{ id, event_name, occurred_at: '2026-11-02 10:00:00.000', ...more },
    })
    const early = [event('1', 'visit', { click_id: 'c1', visitor_id: 'anna' })]
    const late = [event('2', 'visit', { click_id: 'c1' }), event('3', 'signup', { click_id: 'c2' })]
    const plan = planOf('late', { steps: 'visit,signup', group_by: 'country' })
    await storeEvents(api.stores, 'late', early)
    const found = await readStoredEvents(api.stores, plan, new AbortController().signal)
    await storeEvents(api.stores, 'late', late)
    const { text, params } = render(funnelSql(plan, found))
    const response = await api.stores.clickhouse.client.query({
      ...{ query: text, query_params: params, format: 'JSONEachRow' },
    })
    expect(await response.json()).toMatchObject([{ entered1: 1, entered2: 0 }])
  })

  describe('of a small account', () => {
    const at = (day: number, time = '10:00:00.000') => `2026-11-${String(day).padStart(2, '0')} ${time}`
    const range = 'from=2026-11-01&to=2026-11-10'

    beforeAll(async () => {
      const click = { clicked_at: at(1), campaign_id: 'k1', country: 'DE', device: 'mobile' }
      await storeClicks(api.stores, 'acme', [
        { ...click, id: 'c1', visitor_id: 'anna' },
        { ...click, id: 'c2', country: 'FR' },
        { ...click, id: 'bot', visitor_id: 'bert', is_bot: true },
      ])
      const event = (id: string, name: string, occurred_at: string, more: StoredRow) => ({
        ...{ id, event_name: name, occurred_at, ...more },
      })
      await storeEvents(api.stores, 'acme', [
        event('1', 'visit', at(2), { visitor_id: 'anna', campaign_id: 'k1' }),
        event('2', 'visit', at(3), { visitor_id: 'anna', campaign_id: 'k1' }),
        // Only the click says that this is Anna.
        event('3', 'signup', at(3, '10:00:30.500'), { click_id: 'c1' }),
        event('4', 'visit', at(10, '23:59:59.999'), { click_id: 'c2' }),
        event('5', 'signup', at(11, '10:00:00.000'), { click_id: 'c2' }),
        event('6', 'visit', at(2), { click_id: 'bot' }),
        event('7', 'visit', at(4), { visitor_id: 'cleo', campaign_id: 'gone' }),
        event('8', 'visit', at(11), { visitor_id: 'dora', campaign_id: 'k1' }),
      ])
      await storeConversions(api.stores, 'acme', [
        { id: 's1', converted_at: at(3, '12:00:00.000'), visitor_id: 'anna', click_id: 'c1' },
        { id: 's2', converted_at: at(4), visitor_id: 'cleo', status: 'declined' },
      ])
    })

    it('counts each visitor once, and later steps also after the range', async () => {
      expect(await read(`/funnels?steps=visit,signup,conversion&${range}`)).toEqual({
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-11-11T00:00:00.000Z',
        steps: [
          { step: 'visit', entered: 3, fromPrevious: null, fromFirst: 100, medianSeconds: null },
          { step: 'signup', entered: 2, fromPrevious: 66.666667, fromFirst: 66.666667, medianSeconds: 61_215.2505 },
          { step: 'conversion', entered: 1, fromPrevious: 50, fromFirst: 33.333333, medianSeconds: 7_169.5 },
        ],
        asOf: '2026-11-21T15:00:00.000Z',
      })
    })

    it('measures the window from the first step', async () => {
      const entered = async (window: string) => {
        const { steps } = await read(`/funnels?steps=visit,signup,conversion&window=${window}&${range}`)
        return steps.map((step) => step.entered)
      }
      expect(await entered('1h')).toEqual([3, 1, 0])
      expect(await entered('2h')).toEqual([3, 1, 1])
      expect(await entered('30d')).toEqual([3, 2, 1])
    })

    it('counts clicks instead of visitors with by=click', async () => {
      const { steps } = await read(`/funnels?steps=click,signup&by=click&${range}`)
      expect(steps.map(({ entered }) => entered)).toEqual([2, 1])
    })

    it('groups by the row of the first step or its click, with names; steps are those of all groups', async () => {
      const { steps, data } = await read(`/funnels?steps=visit,signup&group_by=campaign&${range}`)
      expect(steps.map(({ entered }) => entered)).toEqual([3, 2])
      expect(data?.map(({ id, name, steps }) => [id, name, ...steps.map(({ entered }) => entered)])).toEqual([
        ['k1', 'Spring', 2, 2],
        ['gone', null, 1, 0],
      ])
      const byCountry = await read(`/funnels?steps=visit,signup&group_by=country&${range}`)
      expect(byCountry.data?.map(({ id, name }) => [id, name])).toEqual([
        ['(not set)', '(not set)'],
        ['FR', 'France'],
      ])
    })

    it('has zeros and nulls for a funnel without rows', async () => {
      const step = { entered: 0, fromPrevious: null, fromFirst: null, medianSeconds: null }
      for (const group of ['', '&group_by=device']) {
        const { steps, data } = await read(`/funnels?steps=absent,visit&from=2025-01-01&to=2025-01-02${group}`)
        expect(steps).toEqual([
          { step: 'absent', ...step },
          { step: 'visit', ...step },
        ])
        expect(data).toEqual(group ? [] : undefined)
      }
    })

    it('requires the scopes of its steps, also if another key has read the same funnel', async () => {
      const created = await createKey(api.stores.postgres, {
        ...{ accountId: 'acme', name: 'narrow', scopes: ['read:events'], expiresAt: null },
      })
      const narrow = created?.key as string
      isCaching = true
      try {
        for (const [steps, required] of [
          ['click,visit', 'read:clicks'],
          ['visit,conversion', 'read:conversions'],
        ]) {
          await read(`/funnels?steps=${steps}`)
          const response = await api.get(`/funnels?steps=${steps}`, narrow)
          expect([response.statusCode, response.json()]).toMatchObject([403, { error: 'insufficient_scope', required }])
        }
        await read('/funnels?steps=event:click,event:conversion', narrow)
      } finally {
        isCaching = false
      }
    })

    it.each(['31d', '0d', '721h', '1w', '-1d', '1000h'])('refuses the window %s', async (window) => {
      const response = await api.get(`/funnels?steps=visit,signup&window=${window}`, key)
      expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_window'])
    })
  })
})
