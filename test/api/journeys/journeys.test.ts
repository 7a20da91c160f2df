import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { Click } from '../../../schema/click.ts'
import { Conversion } from '../../../schema/conversion.ts'
import { EventRow } from '../../../schema/event.ts'
import { JourneyPage } from '../../../schema/journey.ts'
import { planJourney } from '../../../src/api/journeys/plan.ts'
import { eventKeysSettings, eventKeysSql } from '../../../src/api/journeys/sql.ts'
import { render } from '../../../src/stores/clickhouse/sql.ts'
import { callerOf } from '../../kit/accounts.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import {
  mergeParts,
  type StoredRow,
  stopMerges,
  storeClicks,
  storeConversions,
  storeEvents,
  storeMetadata,
} from '../../kit/rows.ts'
import { journeyOf, type Rows } from './model.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
})

const readAll = (of: string, limit: number, from = key): Promise<JourneyPage['data']> =>
  readPages(api, `/journeys?${of}&limit=${limit}`, from, JourneyPage)

const at = (day: number, ms = 0) => `2026-11-0${day} 10:00:00.00${ms}`
/** Few moments, so that rows often share one. */
const moment = fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 0, max: 2 })).map(([day, ms]) => at(day, ms))
const visitor = fc.constantFrom('', 'v1', 'v1', 'v2')
const clickId = fc.constantFrom('', 'c1', 'c2', 'c3', 'c4', 'v1', 'absent')

const lives = fc.record({
  clicks: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('c1', 'c2', 'c3', 'c4', 'v1'),
      clicked_at: moment,
      visitor_id: visitor,
      is_bot: fc.boolean(),
      is_test: fc.boolean(),
    }),
    { selector: ({ id }) => id, maxLength: 5 },
  ),
  // Rows with equal keys are copies: the one received first is kept.
  events: fc.array(
    fc.record({
      id: fc.nat(12).map((n) => `e${n}`),
      origin: fc.constantFrom('server', 'browser'),
      generation: fc.nat(1),
      occurred_at: moment,
      received_at: fc.nat(9).map((ms) => at(9, ms)),
      click_id: clickId,
      visitor_id: visitor,
    }),
    { minLength: 10, maxLength: 40 },
  ),
  // Later rows of an id are newer versions.
  conversions: fc.array(
    fc.record({
      id: fc.nat(9).map((n) => `s${n}`),
      status: fc.constantFrom('approved', 'pending'),
      click_id: clickId,
      visitor_id: visitor,
      is_test: fc.boolean(),
    }),
    { minLength: 4, maxLength: 20 },
  ),
  conversionMoments: fc.array(moment, { minLength: 10, maxLength: 10 }),
})

const nameOf = (row: JourneyPage['data'][number]) =>
  row.kind === 'event'
    ? [row.kind, row.at, row.origin, row.id, row.generation].join(' ')
    : [row.kind, row.at, row.id].join(' ')

describe('GET /journeys', () => {
  it('matches a plain model on random lives with ties, copies, versions and rows of absent clicks, at any page size', async () => {
    await stopMerges(api.stores, 'pixel_events', 'conversions', 'clicks')
    let accounts = 0
    let longest = 0
    await fc.assert(
      fc.asyncProperty(lives, fc.integer({ min: 2, max: 7 }), async (life, limit) => {
        accounts += 1
        const account = `life-${accounts}`
        const reader = await api.account(account)
        const rows = await storeLife(account, life)
        for (const of of ['visitor_id=v1', 'visitor_id=v2', 'click_id=c1', 'click_id=v1', 'click_id=absent']) {
          const expected = journeyOf(rows, of)
          longest = Math.max(longest, expected.length)
          expect([of, (await readAll(of, limit, reader)).map(nameOf)]).toEqual([of, expected])
        }
      }),
      { numRuns: randomCases(1), endOnFailure: true },
    )
    // Otherwise the lives would test too few pages.
    expect(longest).toBeGreaterThan(14)
  })

  async function storeLife(
    account: string,
    life: typeof lives extends fc.Arbitrary<infer T> ? T : never,
  ): Promise<Rows> {
    const conversions = life.conversions.map((row, index) => ({
      ...row,
      converted_at: life.conversionMoments[Number(row.id.slice(1))] as string,
      version: index + 1,
    }))
    if (life.clicks.length > 0) {
      await storeClicks(api.stores, account, life.clicks)
      await storeClicks(api.stores, account, life.clicks.slice(0, 1))
    }
    await storeConversions(api.stores, account, conversions.slice(0, 5))
    if (conversions.length > 5) await storeConversions(api.stores, account, conversions.slice(5))
    const events = life.events as StoredRow[]
    for (const batch of [events.slice(0, 5), events.slice(5, 8), events.slice(8)])
      await storeEvents(api.stores, account, batch)
    return { clicks: life.clicks, events: life.events, conversions }
  }

  it('returns the rows of a visitor with a thousand and more clicks, and of its clicks, as for one with few', async () => {
    const reader = await api.account('many')
    const numbers = Array.from({ length: 1_002 }, (_, n) => n)
    const clickedAt = (n: number) => new Date(Date.UTC(2026, 10, 1) + n).toISOString().replace('T', ' ').slice(0, 23)
    const stored = numbers.map((n) => ({
      id: `m${String(n).padStart(4, '0')}`,
      clicked_at: clickedAt(n),
      visitor_id: 'busy',
    }))
    await storeClicks(api.stores, 'many', stored)
    // Of a click that comes first and one that comes last.
    await storeEvents(api.stores, 'many', [
      { id: 'first', click_id: 'm0000', occurred_at: clickedAt(500) },
      { id: 'last', click_id: 'm1001', visitor_id: 'other', occurred_at: clickedAt(1_001) },
      { id: 'own', visitor_id: 'busy', occurred_at: clickedAt(2_000) },
      { id: 'foreign', click_id: 'elsewhere', visitor_id: 'other', occurred_at: clickedAt(2_000) },
    ])
    await storeConversions(api.stores, 'many', [{ id: 'sale', click_id: 'm1001', converted_at: clickedAt(3_000) }])
    const rows = await readAll('visitor_id=busy', 200, reader)
    const clicks = (first: number, end: number) =>
      numbers.slice(first, end).map((n) => `m${String(n).padStart(4, '0')}`)
    expect(rows.map(({ id }) => id)).toEqual([...clicks(0, 501), 'first', ...clicks(501, 1_002), 'last', 'own', 'sale'])
  })

  it('shows each row with the fields of its list', async () => {
    const visitor_id = 'complete'
    await storeClicks(api.stores, 'acme', [
      { id: 'f1', clicked_at: at(1), visitor_id, campaign_id: 'k1', country: 'DE', cost: 1.5, currency: 'USD' },
    ])
    await storeEvents(api.stores, 'acme', [
      { id: 'f2', click_id: 'f1', occurred_at: at(1), campaign_id: 'k1', properties: '{"a":1}', value: 2 },
    ])
    await storeConversions(api.stores, 'acme', [
      { id: 'f3', click_id: 'f1', click_at: at(1), converted_at: at(1), status: 'hold', is_test: true, revenue: 3 },
      { id: 'f4', click_id: 'f1', click_at: at(1), converted_at: at(2), campaign_id: 'k1', revenue_base: 4 },
    ])
    const rows = await readAll('visitor_id=complete', 50)
    expect(rows.map(({ id, kind, at }) => [id, kind, at])).toEqual([
      ['f1', 'click', '2026-11-01T10:00:00.000Z'],
      ['f2', 'event', '2026-11-01T10:00:00.000Z'],
      ['f3', 'conversion', '2026-11-01T10:00:00.000Z'],
      ['f4', 'conversion', '2026-11-02T10:00:00.000Z'],
    ])
    const listed = async (path: string) => (await api.get(path, key)).json().data
    const lists = [
      ...(await listed('/clicks?visitor_id=complete')),
      ...(await listed('/events?click_id=f1')),
      ...(await listed('/conversions?click_id=f1&include_test_mode=true&order=asc')),
    ]
    expect(rows.map(({ kind: _kind, at: _at, ...fields }) => fields)).toEqual(lists)
    const fieldsOf = [Click, EventRow, Conversion, Conversion].map(({ properties }) => Object.keys(properties))
    const keys = rows.map(({ kind: _kind, at: _at, ...fields }) => Object.keys(fields))
    expect(keys).toEqual(fieldsOf)
    expect(await readAll('click_id=f1', 50)).toEqual(rows)
  })

  it('omits and names the kinds that the key may not read; cursors of other keys stay valid', async () => {
    const reader = await api.account('scoped')
    await storeClicks(api.stores, 'scoped', [{ id: 'c', clicked_at: at(1), visitor_id: 'v' }])
    await storeEvents(api.stores, 'scoped', [{ id: 'e', click_id: 'c', occurred_at: at(2) }])
    await storeConversions(api.stores, 'scoped', [{ id: 's', click_id: 'c', converted_at: at(3) }])
    for (const [scopes, kinds, omitted] of [
      [['read:events'], ['event'], ['click', 'conversion']],
      [['read:events', 'read:clicks'], ['click', 'event'], ['conversion']],
      [['read:events', 'read:conversions'], ['event', 'conversion'], ['click']],
      [['read:events', 'read:clicks', 'read:conversions'], ['click', 'event', 'conversion'], []],
    ] as const) {
      const scoped = await api.keyOf('scoped', scopes)
      const page = await api.read('/journeys?visitor_id=v', scoped, JourneyPage)
      expect([page.data.map(({ kind }) => kind), page.omitted]).toEqual([kinds, omitted])
      const { nextCursor } = await api.read('/journeys?visitor_id=v&limit=1', reader, JourneyPage)
      const rest = await api.read(`/journeys?visitor_id=v&cursor=${nextCursor}`, scoped, JourneyPage)
      expect(rest.data.map(({ kind }) => kind)).toEqual(kinds.filter((kind) => kind !== 'click'))
    }
  })

  it('requires exactly one id, and a cursor of the same journey', async () => {
    await storeEvents(api.stores, 'acme', [
      { id: 'p1', visitor_id: 'paged', occurred_at: at(1) },
      { id: 'p2', visitor_id: 'paged', occurred_at: at(1) },
    ])
    const { nextCursor } = await api.read('/journeys?visitor_id=paged&limit=1', key, JourneyPage)
    for (const [query, param] of [
      ['?limit=5', 'visitor_id'],
      ['?visitor_id=a&click_id=b', 'click_id'],
      [`?visitor_id=other&cursor=${nextCursor}`, 'cursor'],
      [`?click_id=paged&cursor=${nextCursor}`, 'cursor'],
    ]) {
      const { error, param: named } = (await api.get(`/journeys${query}`, key)).json()
      expect([query, error, named]).toEqual([query, `invalid_${param}`, param])
    }
  })

  it('reads few rows of a large table: the indexes find the events of a visitor and of its clicks', async () => {
    await api.account('large')
    const numbers = Array.from({ length: 20_000 }, (_, n) => n)
    const events = numbers.map((n) => ({ id: `l${n}`, visitor_id: `u${n}`, click_id: `k${n}`, occurred_at: at(1) }))
    await storeEvents(api.stores, 'large', events)
    await mergeParts(api.stores, 'pixel_events')
    const plan = planJourney({ visitor_id: 'u7' }, callerOf('large', ['read:events']), testNowMs)
    // The event l7 has both the visitor and one of its clicks.
    const clicks = ['k7', 'k900', 'k19000']
    const { text, params } = render(eventKeysSql(plan, clicks, undefined, 59))
    const response = await api.stores.clickhouse.client.query({
      query: text,
      query_params: params,
      format: 'JSON',
      clickhouse_settings: eventKeysSettings(clicks),
    })
    const { data, statistics } = await response.json<{ id: string }>()
    expect(data.map(({ id }) => id).toSorted()).toEqual(['l19000', 'l7', 'l900'])
    expect(statistics?.rows_read).toBeLessThan(3_000)
  })
})
