import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../../src/http/context.ts'
import { openMetrics } from '../../../src/http/prometheusMetrics.ts'
import { rowsOf } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { changeTables } from '../../kit/rows.ts'
import { type InterceptedInserts, interceptInserts } from './interceptedInserts.ts'
import { accepted, deduplicated, newAccount, post, send, storedEvents } from './send.ts'

const api = useTestApp()
let app: App
let inserts: InterceptedInserts

beforeAll(async () => {
  inserts = interceptInserts(api.stores.clickhouse)
  app = await api.open({ stores: { ...api.stores, clickhouse: inserts.clickhouse } })
})
beforeEach(() => {
  inserts.sent.length = 0
})

const event = (event_id?: string) => ({ click_id: 'click', event_name: 'paid', event_id })
const ids = ['e1', 'e2', 'e3', undefined, undefined]

it('a flush that fails is not retried when ClickHouse rejects it: every request in it gets 503 with Retry-After, and nothing is stored', async () => {
  const { id, key } = await newAccount(api)
  // A first event, so that the account's count is known.
  expect(await send(app, key, event('before'))).toEqual(accepted)
  inserts.sent.length = 0
  await changeTables(api.stores, 'ALTER TABLE pixel_events ADD CONSTRAINT nothing CHECK 0')
  try {
    const responses = await Promise.all(ids.map((eventId) => post(app, key, event(eventId))))
    for (const { statusCode, headers, body } of responses)
      expect([statusCode, headers['retry-after'], JSON.parse(body).error]).toEqual([503, '2', 'unavailable'])
    expect(new Set(inserts.sent.map(({ bytes }) => bytes)).size).toBe(inserts.sent.length)
  } finally {
    await changeTables(api.stores, 'ALTER TABLE pixel_events DROP CONSTRAINT nothing')
  }
  expect((await storedEvents(api.stores, id)).map((row) => row.id)).toEqual(['before'])
  // Nothing of them is left behind: sent again they are new, and what was stored is known.
  expect(await send(app, key, event('e1'))).toEqual(accepted)
  expect(await send(app, key, event('before'))).toEqual(deduplicated)
})

it('an event does not wait for reads of ClickHouse', async () => {
  const { key } = await newAccount(api)
  const { clickhouse } = api.stores
  const leaving = Array.from({ length: 40 }, () => new AbortController())
  const reads = leaving.map(({ signal }) =>
    clickhouse.reader
      .query({
        query: 'SELECT sleepEachRow(1) FROM numbers(1000)',
        clickhouse_settings: { readonly: '2', cancel_http_readonly_queries_on_client_close: 1, max_block_size: '1' },
        abort_signal: signal,
      })
      .catch(() => undefined),
  )
  const busy = async () => {
    const query = `SELECT count() AS reads FROM system.processes
        WHERE current_database = currentDatabase() AND query LIKE 'SELECT sleepEachRow(1)%'`
    return (await rowsOf<{ reads: number }>(api.stores, query))[0]?.reads
  }
  // One read per connection. ClickHouse also counts a read that its client has left, until it cancels the read.
  await expect.poll(busy).toBeGreaterThanOrEqual(32)
  expect(await send(app, key, event('beside'))).toEqual(accepted)
  expect(await busy()).toBeGreaterThanOrEqual(32)
  for (const read of leaving) read.abort()
  // An abort does not close a response that has started.
  for (const response of await Promise.all(reads)) response?.close()
})

it('Prometheus metrics show outcomes of events, the size and duration of flushes, and queued events', async () => {
  const { key } = await newAccount(api)
  const metrics = openMetrics()
  const measured = await api.open({ metrics })
  const sent = ['e1', 'e1', 'e2', undefined, 'e2', 'e3']
  await Promise.all(sent.map((eventId) => send(measured, key, event(eventId))))
  await send(measured, key, { ...event(), click_id: 'nope' })
  await send(measured, key, { ...event('e3'), timestamp: '2020-01-01', x: 1, y: 1 })
  await send(measured, key, { ...event(), click_id: 'nope', x: 1 })
  const text = await metrics.registry.metrics()
  for (const line of [
    'event_notes_total{code="timestamp_clamped"} 1',
    'event_notes_total{code="field_ignored"} 2',
    'event_notes_total{code="value_clamped"} 0',
    'events_total{outcome="stored"} 4',
    'events_total{outcome="duplicate"} 3',
    'events_total{outcome="over_ceiling"} 0',
    'events_in_flight 0',
    'events_queued 0',
    'event_flush_size_sum 5',
  ])
    expect(text).toContain(`${line}\n`)
  for (const step of ['look_up', 'insert'])
    expect(text).toMatch(new RegExp(`event_flush_duration_seconds_count\\{step="${step}"\\} [1-9]`))
})
