import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { EventRow } from '../../../schema/event.ts'
import { EventPage } from '../../../schema/eventList.ts'
import { eventPageSettings, eventPageSql } from '../../../src/api/events/list/page.ts'
import { planEventList } from '../../../src/api/events/list/routes.ts'
import { render } from '../../../src/stores/clickhouse/sql.ts'
import { callerOf } from '../../kit/accounts.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { mergeParts, type StoredRow, stopMerges, storeEvents, storeMetadata } from '../../kit/rows.ts'
import { accepted, send } from './send.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
})

const nameOf = ({ origin, id, generation }: { origin: string; id: string; generation: number }) =>
  `${origin} ${id} ${generation}`

const readAll = (query: string, limit: number, from = key): Promise<EventRow[]> =>
  readPages(api, `/events?${query}&limit=${limit}`, from, EventPage)

const day = (n: number) => `2026-11-${String(n).padStart(2, '0')}`
const at = (n: number, second: number) => `${day(n)} 10:00:0${second}.000`

/** An event in a random history; `receivedAt` decides which of two rows with one key is kept. */
const event = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  origin: fc.constantFrom('server', 'browser'),
  generation: fc.integer({ min: 0, max: 1 }),
  event_name: fc.constantFrom('visit', 'signup', 'purchase'),
  click_id: fc.constantFrom('', 'k1', 'k2'),
  visitor_id: fc.constantFrom('', 'v1', 'v2'),
  campaign_id: fc.constantFrom('camp', 'other'),
  occurred_at: fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 1 }))
    .map(([n, second]) => at(n, second)),
  received_at: fc.integer({ min: 0, max: 5 }).map((second) => at(9, second)),
})

const trees: Readonly<Record<string, (row: StoredRow) => boolean>> = {
  '[["or",[["is","event_name",["visit"]],["contains","visitor_id",["V2"]]]]]': ({ event_name, visitor_id }) =>
    event_name === 'visit' || visitor_id === 'v2',
  '[["is_not","campaign_id",["camp"]],["not",["is","click_id",["(not set)"]]]]': ({ campaign_id, click_id }) =>
    campaign_id !== 'camp' && click_id !== '',
}

const filters = fc.record(
  {
    event_name: fc.constantFrom('visit', 'signup,purchase', 'purchase,visit,visit', 'unknown'),
    origin: fc.constantFrom('server', 'browser'),
    campaign_id: fc.constantFrom('camp', 'other', 'unknown'),
    click_id: fc.constantFrom('k1', 'unknown'),
    visitor_id: fc.constantFrom('v1', 'v2'),
    from: fc.constantFrom(day(1), day(2)),
    to: fc.constantFrom(day(2), day(3)),
    order: fc.constantFrom('asc', 'desc'),
    filters: fc.constantFrom(...Object.keys(trees)),
  },
  { requiredKeys: [] },
)

type Filters = Partial<
  Record<
    'event_name' | 'origin' | 'campaign_id' | 'click_id' | 'visitor_id' | 'from' | 'to' | 'order' | 'filters',
    string
  >
>

/** The rows that remain of a history: of each key the one received first, else the one stored last. */
function remaining(batches: StoredRow[][]): StoredRow[] {
  const kept = new Map<string, StoredRow>()
  for (const row of batches.flat()) {
    const name = nameOf(row as never)
    const known = kept.get(name)
    if (!known || String(row.received_at) <= String(known.received_at)) kept.set(name, row)
  }
  return [...kept.values()]
}

function matches(row: StoredRow, { event_name, from, to, order: _, filters: tree, ...equal }: Filters): boolean {
  const date = String(row.occurred_at).slice(0, 10)
  if (event_name !== undefined && !event_name.split(',').includes(String(row.event_name))) return false
  if (tree !== undefined && !trees[tree]?.(row)) return false
  if ((from !== undefined && date < from) || (to !== undefined && date > to)) return false
  return Object.entries(equal).every(([name, value]) => row[name] === value)
}

function compare(a: StoredRow, b: StoredRow): number {
  for (const column of ['occurred_at', 'origin', 'id', 'generation']) {
    const [x, y] = [a[column] as string, b[column] as string]
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

/** Reads a page of keys as the server does. @returns the response with its statistics */
async function readKeys(plan: ReturnType<typeof planEventList>) {
  const { text, params } = render(eventPageSql(plan, undefined, 51))
  const settings = { clickhouse_settings: eventPageSettings(plan) }
  const { client } = api.stores.clickhouse
  return await (await client.query({ query: text, query_params: params, format: 'JSON', ...settings })).json()
}

describe('GET /events', () => {
  it('matches a plain model after random histories with unmerged copies, for random filters, orders and page sizes', async () => {
    await stopMerges(api.stores, 'pixel_events')
    let histories = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(event, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(filters, fc.integer({ min: 1, max: 9 })), { minLength: 4, maxLength: 4 }),
        async (batches, requests) => {
          histories += 1
          const account = `history-${histories}`
          const reader = await api.account(account)
          const distinct = batches.map((batch) => remaining([batch as StoredRow[]]))
          for (const batch of distinct) await storeEvents(api.stores, account, batch)
          for (const [given, limit] of requests as [Filters, number][]) {
            if (given.from !== undefined && given.to !== undefined && given.from > given.to) continue
            const expected = remaining(distinct)
              .filter((row) => matches(row, given))
              .sort(compare)
            if (given.order !== 'asc') expected.reverse()
            const found = await readAll(`${new URLSearchParams(given as Record<string, string>)}`, limit, reader)
            expect(found.map(nameOf)).toEqual(expected.map((row) => nameOf(row as never)))
          }
        },
      ),
      { numRuns: randomCases(2) },
    )
  })

  it('lists every event once by storedAt, and continues from asOf with the events stored later', async () => {
    const reader = await api.account('synced')
    const store = async (ids: string[]) => {
      const events = ids.map((id) => ({ id, occurred_at: at(1, 0) }))
      await storeEvents(api.stores, 'synced', events)
    }
    const readSince = async (since: string) => (await readAll(`updated_since=${since}`, 2, reader)).map(({ id }) => id)
    await store(['s1', 's2', 's3'])
    await expect.poll(() => readSince('1970-01-01'), { timeout: 10_000 }).toEqual(['s1', 's2', 's3'])
    const { asOf } = await api.read('/events?updated_since=1970-01-01', reader, EventPage)
    await store(['s4', 's5'])
    const isLater = (id: string) => id > 's3'
    const readLater = async () => (await readSince(`${asOf}`)).filter(isLater)
    await expect.poll(readLater, { timeout: 10_000 }).toEqual(['s4', 's5'])
  })

  it('reads the keys of later events only, once the earlier ones are merged', async () => {
    await api.account('walked')
    await stopMerges(api.stores, 'pixel_events')
    const store = (first: number, count: number, stored_at: string) => {
      const events = Array.from({ length: count }, (_, n) => ({
        id: `w${first + n}`,
        occurred_at: at(1, 0),
        stored_at,
      }))
      return storeEvents(api.stores, 'walked', events)
    }
    // Later than the events of other cases, which are merged into the same part.
    await store(0, 1_500, '2100-11-20 10:00:00.000')
    await store(1_500, 1_500, '2100-11-20 11:00:00.000')
    await mergeParts(api.stores, 'pixel_events')
    await store(3_000, 300, '2100-11-20 12:00:00.000')
    const plan = planEventList({ updated_since: '2100-11-20T11:30:00Z', limit: 50 }, callerOf('walked'), 0)
    const { rows, statistics } = await readKeys({ ...plan, asOfMs: Date.UTC(2100, 10, 21) })
    expect([rows, (statistics?.rows_read ?? 0) <= 300]).toEqual([51, true])
  })

  it('an export with updated_since has of each event the row that is kept, if it was stored since', async () => {
    const reader = await api.account('exported')
    await stopMerges(api.stores, 'pixel_events')
    const store = (stored_at: string, received: Record<string, string>) => {
      const shared = { occurred_at: at(1, 0), stored_at }
      const events = Object.entries(received).map(([id, time]) => ({
        ...shared,
        id,
        received_at: time,
        event_name: time,
      }))
      return storeEvents(api.stores, 'exported', events)
    }
    await store('2020-11-20 10:00:00.000', { replaced: at(9, 2), kept: at(9, 1), only: at(9, 1) })
    await store('2020-11-20 12:00:00.000', { replaced: at(9, 1), kept: at(9, 2), later: at(9, 1) })
    const exportSince = async (time: string) => {
      const { body } = await api.get(`/events?format=ndjson&fields=eventName&updated_since=${time}`, reader)
      const rows = body.trim().split('\n')
      return rows.filter(Boolean).map((line) => Object.values(JSON.parse(line)).slice(0, 2))
    }
    const since = [
      ['later', at(9, 1)],
      ['replaced', at(9, 1)],
    ]
    expect(await exportSince('2020-11-20T11:00:00Z')).toEqual(since)
    expect(await exportSince('2020-11-20T13:00:00Z')).toEqual([])
    expect(await exportSince('1970-01-01')).toEqual([['kept', at(9, 1)], ['only', at(9, 1)], ...since])
  })

  it('finds the events of a visitor in parts with the index and in new parts without it', async () => {
    const visited = await api.account('visited')
    await stopMerges(api.stores, 'pixel_events')
    const eventsOf = (first: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `v${first + n}`, visitor_id: `v${(first + n) % 1_000}` }))
    const rowsRead = async () => {
      const plan = planEventList({ visitor_id: 'v7', limit: 50 }, callerOf('visited'), 0)
      return (await readKeys(plan)).statistics?.rows_read ?? 0
    }
    const stored = eventsOf(0, 3_000).map((row) => ({ ...row, occurred_at: at(1, 0) }))
    await storeEvents(api.stores, 'visited', stored)
    await mergeParts(api.stores, 'pixel_events')
    const merged = await rowsRead()
    // Granules of 256 rows.
    expect(merged).toBeLessThanOrEqual(3 * 256)
    await storeMetadata(api.stores, 'campaigns', 'visited', [{ id: 'camp', name: 'Spring', user_id: 'owner' }])
    for (const visitorId of ['v7', 'other']) {
      const body = { event_name: 'visit', event_id: `sent-${visitorId}`, visitor_id: visitorId, campaign_id: 'camp' }
      expect(await send(api.app, visited, body)).toEqual(accepted)
    }
    // Two parts of one row.
    expect(await rowsRead()).toBe(merged + 2)
    const found = await readAll('visitor_id=v7', 2, visited)
    expect(found.map(({ id }) => id).sort()).toEqual(['sent-v7', 'v1007', 'v2007', 'v7'])
    await mergeParts(api.stores, 'pixel_events')
    // Four events, of 25 granules; two nodes read one granule more.
    const granulesMax = api.stores.clickhouse.cluster ? 5 : 4
    expect(await rowsRead()).toBeLessThanOrEqual(granulesMax * 256)
    expect(await readAll('visitor_id=v7', 2, visited)).toEqual(found)
  })
})

it('GET /events/:id returns the newest generation of a server event, and no browser event', async () => {
  await storeEvents(api.stores, 'acme', [
    { id: 'twice', generation: 0, event_name: 'old', occurred_at: at(1, 0) },
    { id: 'twice', generation: 1, event_name: 'new', occurred_at: at(1, 0) },
    { id: 'pixel', origin: 'browser', occurred_at: at(1, 0) },
  ])
  expect(await api.read('/events/twice', key, EventRow)).toMatchObject({ generation: 1, eventName: 'new' })
  expect((await api.get('/events/pixel', key)).statusCode).toBe(404)
})
