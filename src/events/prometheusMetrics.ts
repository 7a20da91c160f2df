import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { eventNoteTexts } from '../../schema/eventNote.ts'
import type { AcknowledgedEvent, Outcome } from './incomingEvent.ts'

export type EventMetrics = ReturnType<typeof openEventMetrics>

const sizeBuckets = [1, 5, 10, 50, 100, 250, 500, 1_000, 2_000, 4_000]
const durationBucketsS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Opens the metrics of events, published by `registry`. @param now present numbers: without a response, queued for the next flush */
export function openEventMetrics(
  registry: Registry | undefined,
  now: { inFlight: () => number; queued: () => number },
) {
  const registers = [registry ?? new Registry()]
  // A number is increased at once; a counter with a label takes a twentieth of the CPU time of an event.
  const outcomes: Record<Outcome, number> = { stored: 0, duplicate: 0, over_ceiling: 0 }
  new Counter({
    name: 'events_total',
    help: 'Events with a 200 response, by outcome: stored, duplicate, over_ceiling.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(outcomes)) this.inc({ outcome }, count)
    },
  })
  const notes = new Counter({
    name: 'event_notes_total',
    help: 'Notes on events with a 200 response, by code: values that are stored differently from the way they were sent.',
    labelNames: ['code'],
    registers,
  })
  for (const code of Object.keys(eventNoteTexts)) notes.inc({ code }, 0)
  const sizes = new Histogram({
    name: 'event_flush_size',
    help: 'Events that share a look-up of duplicates and an insert.',
    buckets: sizeBuckets,
    registers,
  })
  const durations = new Histogram({
    name: 'event_flush_duration_seconds',
    help: 'Duration of a flush in seconds, including repeated attempts, by step: look_up, insert.',
    labelNames: ['step'],
    buckets: durationBucketsS,
    registers,
  })
  const addGauge = (name: string, help: string, read: () => number) => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) })
  }
  addGauge('events_in_flight', 'Events without a response yet.', now.inFlight)
  addGauge('events_queued', 'Events queued for the next flush.', now.queued)
  return {
    /** Counts an event with a 200 response. */
    countEvent({ outcome, notes: ofEvent }: AcknowledgedEvent) {
      outcomes[outcome] += 1
      for (const { code } of ofEvent) notes.inc({ code })
    },
    /** @param size number of events; then the seconds of the look-up and of the insert, undefined if nothing was stored */
    countFlush(size: number, { lookUp, insert }: { lookUp: number; insert: number | undefined }) {
      sizes.observe(size)
      durations.observe({ step: 'look_up' }, lookUp)
      if (insert !== undefined) durations.observe({ step: 'insert' }, insert)
    },
  }
}
