import { expect, it } from 'vitest'
import { openMetrics } from '../../../src/http/prometheusMetrics.ts'
import { useTestApp } from '../../kit/app.ts'
import { newAccount, send } from './send.ts'

const api = useTestApp()

it('Prometheus metrics show outcomes of events, the size and duration of flushes, and queued events', async () => {
  const { key } = await newAccount(api)
  const metrics = openMetrics()
  const app = await api.open({ metrics })
  const event = { click_id: 'click', event_name: 'a' }
  const ids = ['e1', 'e1', 'e2', undefined, 'e2', 'e3']
  await Promise.all(ids.map((event_id) => send(app, key, { ...event, event_id })))
  await send(app, key, { ...event, click_id: 'nope' })
  await send(app, key, { ...event, timestamp: '2020-01-01', x: 1, y: 1, event_id: 'e3' })
  await send(app, key, { ...event, click_id: 'nope', x: 1 })
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
