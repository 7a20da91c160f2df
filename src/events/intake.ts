import type { Registry } from 'prom-client'
import { Batcher } from '../stores/batcher.ts'
import type { Stores } from '../stores/open.ts'
import { FirstByKey, settleLikeFirst } from './duplicates.ts'
import { openEventCampaigns } from './eventCampaigns.ts'
import { openFairUseCeiling } from './fairUseCeiling.ts'
import { decideEvents, type FlushParts, flushEvents } from './flush.ts'
import { type IncomingEvent, isAcknowledged, unsettled } from './incomingEvent.ts'
import { openEventMetrics } from './prometheusMetrics.ts'

export type Intake = ReturnType<typeof openIntake>

/** `itemsMax` is eight batches of 1,000. With four, eight clients that send batches have two flushes at a time, at twice the CPU time. */
const flushOptions = {
  itemsMax: 8_000,
  concurrentMax: 2,
  // Each flush creates one part: 25 per second at most, which merges keep up with. Three may start at once for a single client.
  pace: { starts: 3, withinMs: 120 },
  // Clients split over two flushes wait twice as long, and two small flushes cost more than a large one. A second flush starts
  // beside a running one when it is large enough to be read while the other is stored.
  gather: { quietMs: 5, mostMs: 20, mostMsPerItem: 0.1, beside: { items: 1_000, mostMs: 100 } },
}

export interface IntakeParts {
  stores: Pick<Stores, 'clickhouse' | 'postgres'>
  /** Limits the events without a response; throws Problem `unavailable`. */
  inFlight: {
    readonly running: number
    acquire(accountId: string, signal: undefined, events: number): Promise<() => void>
  }
  /** The current time, epoch milliseconds. */
  now: () => number
  /** Receives retries, and the reason when events could not be stored. */
  log: FlushParts['log']
  /** Publishes the metrics; none when undefined. */
  registry: Registry | undefined
  /** Maximum duration of a flush, milliseconds; an event that is not known to be stored by then gets 503. */
  timeoutMs?: number
}

export function openIntake({ stores, inFlight, now, log, registry, timeoutMs = 10_000 }: IntakeParts) {
  const { clickhouse, postgres } = stores
  const findCampaigns = openEventCampaigns({ clickhouse, postgres }, now)
  const firstByKey = new FirstByKey()
  const metrics = openEventMetrics(registry, { inFlight: () => inFlight.running, queued: () => flushes.queued })
  const parts: FlushParts = { clickhouse, ceiling: openFairUseCeiling(clickhouse), metrics, log, timeoutMs }
  const flushes = new Batcher<IncomingEvent>({
    ...flushOptions,
    timeoutMs,
    run: (events, signal) => flushEvents(parts, events, signal),
  })

  async function settle(events: readonly IncomingEvent[], isDryRun: boolean): Promise<void> {
    const firsts = firstByKey.add(events, isDryRun)
    const flushed = isDryRun ? preview(firsts) : flushes.addAll(firsts)
    for (const event of firsts) event.flushed = flushed
    try {
      await flushed
    } finally {
      firstByKey.remove(firsts)
    }
    await settleLikeFirst(events)
  }

  /** Settles events as a flush does, and stores nothing. */
  async function preview(events: readonly IncomingEvent[]): Promise<void> {
    await decideEvents(parts, events, AbortSignal.timeout(timeoutMs))
    for (const event of unsettled(events)) {
      event.monthCount?.release()
      event.outcome = 'stored'
    }
  }

  return {
    /**
     * Finds the campaigns of events, then settles the events in one flush: duplicates (one look-up), fair-use ceiling, storage (one insert).
     * A Problem is the outcome of an event that has no click or campaign of the account.
     * @param events of one account without outcomes, at most 1,000
     * @param isDryRun `stored` is then the outcome of an event that would be stored
     * @throws Problem `unavailable`: any of the events may be stored or not
     */
    async accept(events: readonly IncomingEvent[], isDryRun = false): Promise<void> {
      const [event] = events
      if (!event) return
      const release = await inFlight.acquire(event.row.accountId, undefined, events.length)
      try {
        await findCampaigns(events)
        await settle(unsettled(events), isDryRun)
      } finally {
        release()
      }
      if (!isDryRun) for (const event of events.filter(isAcknowledged)) metrics.countEvent(event)
    },
    /** Resolves when no event is in flight, including events of disconnected clients. */
    idle: () => flushes.idle(),
  }
}
