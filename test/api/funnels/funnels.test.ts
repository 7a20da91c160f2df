import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FunnelResponse } from '../../../schema/funnel.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { funnelSettings } from '../../../src/api/funnels/run.ts'
import { anyWithoutVisitor } from '../../../src/api/funnels/sql.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
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
  ...{ steps: 'a,b,a,a', by: 'visitor', window: '7d', days: [0, 3] },
  ...{ group_by: 'country', country: undefined, campaign_id: undefined },
}

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
    try {
      await fc.assert(
        fc.asyncProperty(rows, fc.array(queries, { minLength: 8, maxLength: 8 }), async (given, requests) => {
          lives += 1
          const account = `life-${lives}`
          const reader = await api.account(account)
          if (given.clicks.length > 0) await storeClicks(api.stores, account, given.clicks)
          if (given.conversions.length > 0) await storeConversions(api.stores, account, given.conversions)
          await storeEvents(api.stores, account, given.events as StoredRow[])
          await storeEvents(api.stores, account, given.copied.map((index) => given.events[index]) as StoredRow[])
          await Promise.all(
            [...requests, deepest].map(async (request) => {
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

  it('counts an event that is stored twice as either row until a merge, then only as the row accepted first', async () => {
    const reader = await api.account('twice')
    const event = (id: string, event_name: string, time: string, more: StoredRow = {}) => ({
      ...{ id, event_name, visitor_id: id, occurred_at: `2026-11-${time}`, received_at: `2026-11-${time}`, ...more },
    })
    const entered = async (steps: string, day: string) => {
      const path = `/funnels?steps=${steps}&from=2026-11-${day}&to=2026-11-${day}`
      return (await read(path, reader)).steps.map((step) => step.entered)
    }
    await stopMerges(api.stores, 'pixel_events')
    try {
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
      const expected = { paid: [1, 0], again: [1, 1, 0], both: [1, 1, 0] }
      expect(await numbers()).toEqual({
        ...expected,
        late: [
          [1, 0],
          [1, 0],
        ],
        other: [
          [2, 0],
          [1, 0],
        ],
      })
      await startMerges(api.stores, 'pixel_events')
      await changeTables(api.stores, 'OPTIMIZE TABLE pixel_events FINAL')
      expect(await numbers()).toEqual({
        ...expected,
        late: [
          [1, 0],
          [0, 0],
        ],
        other: [
          [1, 0],
          [0, 0],
        ],
      })
    } finally {
      await startMerges(api.stores, 'pixel_events')
    }
  })

  it('takes visitors and countries from clicks that occurred before the range', async () => {
    const reader = await api.account('clicks')
    const click = (n: number) => ({ clicked_at: '2026-10-01 10:00:00.000', country: n === 1 ? 'DE' : 'FR' })
    await storeClicks(
      api.stores,
      'clicks',
      [1, 2].map((n) => ({ ...click(n), id: `c${n}`, visitor_id: `v${n}` })),
    )
    const event = { click_id: 'c1', occurred_at: '2026-11-02 10:00:00.000' }
    await storeEvents(api.stores, 'clicks', [
      { ...event, id: '1', event_name: 'visit', visitor_id: 'v1' },
      { ...event, id: '2', event_name: 'signup' },
    ])
    const { data } = await read('/funnels?steps=visit,signup&group_by=country&from=2026-11-01&to=2026-11-10', reader)
    expect(data?.map(({ id, steps }) => [id, ...steps.map(({ entered }) => entered)])).toEqual([['DE', 1, 1]])
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

    it('finds whether the account has events without a visitor in a projection', async () => {
      const { clickhouse } = api.stores
      const plan = await selectRows<{ explain: string }>(
        clickhouse,
        ch`EXPLAIN distributed = 1 ${anyWithoutVisitor('acme')}`,
        { label: 'test', settings: funnelSettings },
      )
      const fromProjection = plan.filter(({ explain }) => explain.includes('ReadFromMergeTree (by_month)'))
      expect(fromProjection).toHaveLength(clickhouse.cluster?.nodes.length ?? 1)
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
