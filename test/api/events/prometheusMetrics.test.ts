import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import type { App } from '../../../src/http/context.ts'
import { type Metrics, openMetrics } from '../../../src/http/prometheusMetrics.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'
import { send } from './send.ts'

let api: TestApp
let app: App
let metrics: Metrics
let key: string

beforeAll(async () => {
  api = await openTestApp()
  metrics = openMetrics()
  app = await buildApp({ settings: api.stores.settings, stores: api.stores, now: () => testNowMs, metrics })
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'camp' }])
  await storeClicks(api.stores, 'acme', [{ id: 'c1', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'camp' }])
})
afterAll(async () => {
  await app?.close()
  await api?.close()
})

describe('event metrics', () => {
  it('shows outcomes, the size and duration of flushes, and queued events', async () => {
    const ids = ['e1', 'e1', 'e2', undefined, 'e2', 'e3']
    await Promise.all(ids.map((event_id) => send(app, key, { click_id: 'c1', event_name: 'a', event_id })))
    await send(app, key, { click_id: 'nope', event_name: 'a' })
    await send(app, key, { click_id: 'c1', event_name: 'a', timestamp: '2020-01-01', x: 1, y: 1, event_id: 'e3' })
    await send(app, key, { click_id: 'nope', event_name: 'a', x: 1 })
    const text = await metrics.registry.metrics()
    expect(text).toContain('event_notes_total{code="timestamp_clamped"} 1\n')
    expect(text).toContain('event_notes_total{code="field_ignored"} 2\n')
    expect(text).toContain('event_notes_total{code="value_clamped"} 0\n')
    expect(text).toContain('events_total{outcome="stored"} 4\n')
    expect(text).toContain('events_total{outcome="duplicate"} 3\n')
    expect(text).toContain('events_total{outcome="over_ceiling"} 0\n')
    expect(text).toContain('events_in_flight 0\n')
    expect(text).toContain('events_queued 0\n')
    expect(text).toContain('event_flush_size_sum 5\n')
    for (const step of ['look_up', 'insert']) {
      expect(text).toMatch(new RegExp(`event_flush_duration_seconds_count\\{step="${step}"\\} [1-9]`))
    }
  })
})
