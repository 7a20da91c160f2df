import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FunnelResponse } from '../../../schema/funnel.ts'
import { funnelSettings } from '../../../src/api/funnels/run.ts'
import { anyWithoutVisitorSql } from '../../../src/api/funnels/sql.ts'
import { openResponseCache } from '../../../src/http/responseCache.ts'
import { getFrom, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import {
  explain,
  mergeParts,
  type StoredRow,
  stopMerges,
  storeClicks,
  storeConversions,
  storeEvents,
  storeMetadata,
} from '../../kit/rows.ts'
import { type ModelQuery, modelFunnel } from './model.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
})

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
  copied: fc.array(fc.nat(19), { minLength: 4, maxLength: 10 }),
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

/** A query of many steps that most lives complete, which random queries seldom have. */
const deepest: Query = {
  steps: 'a,b,a,a',
  by: 'visitor',
  window: '7d',
  days: [0, 3],
  group_by: 'country',
  country: undefined,
  campaign_id: undefined,
}

/** No event needs its click, if all events have visitors. */
const withoutClicks: Query = { ...deepest, steps: 'a,b', group_by: undefined }

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

async function read(path: string, reader = key): Promise<FunnelResponse> {
  return await api.read(path, reader, FunnelResponse)
}

describe('GET /funnels', () => {
  it('matches a plain model on random lives with ties, repeated steps and unmerged copies', async () => {
    await stopMerges(api.stores, 'pixel_events')
    let lives = 0
    const reached = new Set<number>()
    await fc.assert(
      fc.asyncProperty(rows, fc.array(queries, { minLength: 7, maxLength: 7 }), async (random, requests) => {
        lives += 1
        // All events of every second account have visitors, so that its funnels are read without a join.
        const unknown = lives % 2 === 0 ? 'v2' : ''
        const events = random.events.map((event) => ({ ...event, visitor_id: event.visitor_id || unknown }))
        const given = { ...random, events }
        const account = `life-${lives}`
        const reader = await api.account(account)
        if (given.clicks.length > 0) await storeClicks(api.stores, account, given.clicks)
        if (given.conversions.length > 0) await storeConversions(api.stores, account, given.conversions)
        await storeEvents(api.stores, account, given.events as StoredRow[])
        await storeEvents(api.stores, account, given.copied.map((index) => given.events[index]) as StoredRow[])
        await Promise.all(
          [...requests, deepest, withoutClicks].map(async (request) => {
            const [path, model] = requestOf(request)
            const expected = modelFunnel(given, model)
            const { steps, data } = await read(path, reader)
            const found = data?.map(({ id, steps }) => ({ id, steps }))
            expect([path, steps, found]).toEqual([path, expected.steps, expected.data])
            reached.add(expected.steps.filter(({ entered }) => entered > 0).length)
          }),
        )
      }),
      { numRuns: randomCases(2), endOnFailure: true },
    )
    // Otherwise the lives would test too few chains.
    expect([...reached].toSorted()).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]))
  })

  it('counts an event that is stored twice as either row until a merge, then only as the row accepted first', async () => {
    const reader = await api.account('twice')
    const event = (id: string, event_name: string, time: string, more: StoredRow = {}) => ({
      id,
      event_name,
      visitor_id: id,
      occurred_at: `2026-11-${time}`,
      received_at: `2026-11-${time}`,
      ...more,
    })
    const entered = async (steps: string, day: string) => {
      const path = `/funnels?steps=${steps}&from=2026-11-${day}&to=2026-11-${day}`
      return (await read(path, reader)).steps.map((step) => step.entered).join()
    }
    await stopMerges(api.stores, 'pixel_events')
    await storeEvents(api.stores, 'twice', [
      event('paid', 'purchase', '02 10:00:00.000'),
      event('late', 'visit', '02 23:59:59.000'),
      event('again', 'visit', '04 10:00:00.000'),
      event('again', 'visit', '04 11:00:00.000', { generation: 1 }),
      event('both', 'visit', '05 10:00:00.000'),
      event('both', 'visit', '05 11:00:00.000', { origin: 'browser' }),
      event('other', 'signup', '06 10:00:00.000'),
    ])
    await storeEvents(api.stores, 'twice', [
      event('paid', 'purchase', '02 10:00:05.000'),
      event('late', 'visit', '03 00:00:01.000'),
      event('again', 'visit', '04 10:00:01.000'),
      event('other', 'signup', '06 10:00:01.000', { visitor_id: 'changed' }),
    ])
    // In one insert, ClickHouse would collapse the two copies.
    await storeEvents(api.stores, 'twice', [event('other', 'visit', '06 10:00:02.000')])
    const numbers = async () => ({
      paid: await entered('purchase,purchase', '02'),
      late: [await entered('visit,visit', '02'), await entered('visit,visit', '03')],
      again: await entered('visit,visit,visit', '04'),
      both: await entered('visit,visit,visit', '05'),
      other: [await entered('signup,signup', '06'), await entered('visit,visit', '06')],
    })
    const expected = { paid: '1,0', again: '1,1,0', both: '1,1,0' }
    expect(await numbers()).toEqual({ ...expected, late: ['1,0', '1,0'], other: ['2,0', '1,0'] })
    await mergeParts(api.stores, 'pixel_events')
    expect(await numbers()).toEqual({ ...expected, late: ['1,0', '0,0'], other: ['1,0', '0,0'] })
  })

  it('has its range, the time of its data, and the names of its groups', async () => {
    const visit = { event_name: 'visit', occurred_at: '2026-11-02 10:00:00.000' }
    await storeClicks(api.stores, 'acme', [{ id: 'c1', clicked_at: '2026-11-01 10:00:00.000', country: 'FR' }])
    await storeEvents(api.stores, 'acme', [
      { ...visit, id: '1', visitor_id: 'anna', campaign_id: 'k1' },
      { ...visit, id: '2', visitor_id: 'cleo', campaign_id: 'gone' },
      { ...visit, id: '3', click_id: 'c1', campaign_id: 'k1' },
    ])
    const groupedBy = (name: string) =>
      read(`/funnels?steps=visit,signup&group_by=${name}&from=2026-11-01&to=2026-11-10`)
    const { data, steps: _, ...rest } = await groupedBy('campaign')
    expect(rest).toEqual({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-11T00:00:00.000Z',
      asOf: '2026-11-21T15:00:00.000Z',
    })
    expect(data?.map(({ id, name }) => [id, name])).toEqual([
      ['k1', 'Spring'],
      ['gone', null],
    ])
    expect((await groupedBy('country')).data?.map(({ id, name }) => [id, name])).toEqual([
      ['(not set)', '(not set)'],
      ['FR', 'France'],
    ])
  })

  it('finds whether the account has events without a visitor in a projection', async () => {
    const { clickhouse } = api.stores
    const plan = await explain(clickhouse.client, 'distributed = 1', anyWithoutVisitorSql('acme'), funnelSettings)
    expect(plan.match(/ReadFromMergeTree \(by_month\)/g)).toHaveLength(clickhouse.cluster?.nodes.length ?? 1)
  })

  it('requires the scopes of its steps, also if another key has read the same funnel', async () => {
    const app = await api.open({ responseCache: openResponseCache({ ttlMs: 60_000 }) })
    const request = async (steps: string, by: string) => {
      const response = await getFrom(app, `/funnels?steps=${steps}`, by)
      return [response.statusCode, response.json()]
    }
    const narrow = await api.keyOf('acme', ['read:events'])
    for (const [steps = '', required] of [
      ['click,visit', 'read:clicks'],
      ['visit,conversion', 'read:conversions'],
    ]) {
      expect(await request(steps, key)).toMatchObject([200, {}])
      expect(await request(steps, narrow)).toMatchObject([403, { error: 'insufficient_scope', required }])
    }
    expect(await request('event:click,event:conversion', narrow)).toMatchObject([200, {}])
  })
})
