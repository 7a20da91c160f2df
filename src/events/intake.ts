import type { Registry } from 'prom-client'
import { v7 as uuidv7 } from 'uuid'
import { Problem } from '../problem.ts'
import { Batcher } from '../stores/batcher.ts'
import type { ClickHouse } from '../stores/clickhouse/connection.ts'
import type { QueryTarget } from '../stores/clickhouse/select.ts'
import type { Stores } from '../stores/open.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import { besideProblems } from './besideProblems.ts'
import { InFlightEvents, type Outcome } from './duplicates.ts'
import { type EventCampaign, openEventCampaigns } from './eventCampaigns.ts'
import { openFairUseCeiling } from './fairUseCeiling.ts'
import { decideEvents, type FlushParts, flushEvents } from './flush.ts'
import type { IncomingEvent, Sender } from './incomingEvent.ts'
import { openEventMetrics } from './prometheusMetrics.ts'
import type { ValidEvent } from './validate.ts'

export type Intake = ReturnType<typeof openIntake>

/** Maximum number of events in flight in this process; more get 503 at once, which limits memory. */
const inFlightMax = 10_000

/** An account may have this many times as many events in flight as remain free: one busy account 8,000, two 4,444 each. */
const shareOfFree = 4

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
  /** The current time, epoch milliseconds. */
  now: () => number
  /** Receives retries, and the reason when events could not be stored. */
  log: FlushParts['log']
  /** Publishes the metrics; none when undefined. */
  registry: Registry | undefined
  /** Maximum duration of a flush, milliseconds; an event that is not known to be stored by then gets 503. */
  timeoutMs?: number
}

export function openIntake({ stores, now, log, registry, timeoutMs = 10_000 }: IntakeParts) {
  const { clickhouse, postgres } = stores
  const reader = asWriter(clickhouse)
  const eventCampaigns = openEventCampaigns({ clickhouse: reader, postgres }, now)
  const byId = new InFlightEvents()
  let inFlight = 0
  const inFlightOf = new Map<string, number>()
  const metrics = openEventMetrics(registry, { inFlight: () => inFlight, queued: () => flushes.queued })
  const parts: FlushParts = { clickhouse, reader, ceiling: openFairUseCeiling(reader), metrics, log, timeoutMs }
  const flushes = new Batcher<IncomingEvent, Outcome>({
    ...flushOptions,
    timeoutMs,
    run: (events, signal) => flushEvents(parts, events, signal),
  })

  /** Runs a step for the events that have a campaign of the account. All events count as in flight meanwhile. */
  async function whileInFlight<Result>(
    events: readonly ValidEvent[],
    sender: Sender,
    step: (own: IncomingEvent[]) => Promise<readonly Result[]>,
  ): Promise<(Result | Problem)[]> {
    const { accountId } = sender
    const own = (inFlightOf.get(accountId) ?? 0) + events.length
    if (own > shareOfFree * (inFlightMax - inFlight - events.length)) {
      throw new Problem('unavailable', 'Limit of concurrent events of this account reached; retry.', { retryAfterS: 1 })
    }
    inFlight += events.length
    inFlightOf.set(accountId, own)
    try {
      return await besideProblems(await findCampaigns(events, sender), step)
    } finally {
      inFlight -= events.length
      const left = (inFlightOf.get(accountId) ?? 0) - events.length
      if (left === 0) inFlightOf.delete(accountId)
      else inFlightOf.set(accountId, left)
    }
  }

  /** Finds the campaign of each event; a Problem for an event without an own click or campaign. */
  async function findCampaigns(events: readonly ValidEvent[], sender: Sender): Promise<(IncomingEvent | Problem)[]> {
    const { accountId, clickAllowance } = sender
    const sinceMs = performance.now()
    const toIncoming = (event: ValidEvent, campaign: EventCampaign): IncomingEvent => {
      return { accountId, clickAllowance, event, campaign, id: event.eventId ?? uuidv7(), sinceMs }
    }
    const find = async (event: ValidEvent): Promise<IncomingEvent | Problem> => {
      const found = await eventCampaigns.resolve(accountId, event.identifiers)
      return found instanceof Problem ? found : toIncoming(event, found)
    }
    const incoming = events.map((event) => {
      // Nearly always the campaign is known.
      const known = eventCampaigns.peek(accountId, event.identifiers)
      return known ? toIncoming(event, known) : find(event)
    })
    return await Promise.all(incoming)
  }

  return {
    /**
     * Accepts events in one flush: campaigns, duplicates (one look-up), fair-use ceiling, storage (one insert), in this order.
     * @param events at most 1,000
     * @returns one outcome per event, in their order. `stored`: the event is on disk. Problem `click_not_found` or
     *   `campaign_not_found`: the event has no click or campaign of the account
     * @throws Problem `unavailable`: any of the events may be stored or not
     */
    accept: (events: readonly ValidEvent[], sender: Sender): Promise<(Outcome | Problem)[]> =>
      whileInFlight(events, sender, async (own) => {
        const outcomes = await byId.run(own, (firsts) => flushes.addAll(firsts))
        for (const outcome of outcomes) metrics.outcomes[outcome] += 1
        return outcomes
      }),
    /**
     * Decides as `accept`, and stores and caches nothing.
     * @returns each outcome with the row that would be stored: undefined for a duplicate and above the ceiling
     */
    preview: (events: readonly ValidEvent[], sender: Sender) =>
      whileInFlight(events, sender, async (own) => {
        const rows = new Map<IncomingEvent, PixelEvent>()
        const decide = async (firsts: IncomingEvent[]) => {
          const { outcomes, reserved } = await decideEvents(parts, firsts, AbortSignal.timeout(timeoutMs))
          for (const { incoming, count, row } of reserved) {
            count.release()
            rows.set(incoming, row)
          }
          return outcomes
        }
        const outcomes = await byId.run(own, decide, true)
        return own.map((incoming, index) => ({ outcome: outcomes[index] as Outcome, row: rows.get(incoming) }))
      }),
    countNotes: metrics.countNotes,
    /** Resolves when no event is in flight, including events of disconnected clients. */
    idle: () => flushes.idle(),
  }
}

/** Queries of events use the connections of writes, so that they do not wait for the reads of clients. */
function asWriter(clickhouse: ClickHouse): QueryTarget {
  return {
    get reader() {
      return clickhouse.client
    },
    get onQuery() {
      return clickhouse.onQuery
    },
  }
}
