import { Problem } from '../../problem.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { type RetryOptions, retryWhileUnavailable } from '../../stores/retry.ts'
import type { PixelEvent } from '../../writer/tables/pixelEvent.ts'
import { type Duplicates, generationAfter, type Outcome } from './duplicates.ts'
import type { AccountMonth, FairUseCeiling, Reservation } from './fairUseCeiling.ts'
import { type IncomingEvent, monthsOf, rowOf } from './incomingEvent.ts'
import { insertEvents } from './insertEvents.ts'
import type { EventTelemetry } from './prometheusMetrics.ts'
import { recordRetries } from './retriedEvents.ts'

/** Dependencies of a flush. */
export interface FlushParts {
  clickhouse: ClickHouse
  duplicates: Duplicates
  ceiling: FairUseCeiling
  telemetry: EventTelemetry
  log: { warn: (text: string) => void; error: (error: unknown, text: string) => void }
  /** Maximum duration of a flush, milliseconds. */
  deadlineMs: number
}

/** An event to store, with its reservation below the ceiling. */
export interface ReservedEvent {
  incoming: IncomingEvent
  reservation: Reservation
  row: PixelEvent
}

/** The decisions on some events, before they are stored. */
export interface Decisions {
  /** One per event, in their order; `stored` for the events to store. */
  outcomes: Outcome[]
  /** The events to store, in the order of the events. */
  reserved: ReservedEvent[]
}

type FlushRetry = RetryOptions & { signal: AbortSignal }

/** Share of the remaining time that an insert has; the rest is for looking up events with an unknown outcome. */
const insertShare = 0.8

/**
 * Decides the outcomes of events together and stores the new ones in one insert. A failed insert fails only the events in it.
 * @returns one outcome per event, in their order; a Problem for an event that is not known to be stored
 * @throws Problem `unavailable`, `query_timeout`, or the signal's reason: no event is stored
 */
export async function flushEvents(
  parts: FlushParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<(Outcome | Problem)[]> {
  const { duplicates, telemetry, deadlineMs } = parts
  const startedAtMs = performance.now()
  const { outcomes, reserved } = await decideEvents(parts, events, signal)
  const decidedAtMs = performance.now()
  const lookUp = (decidedAtMs - startedAtMs) / 1000
  if (reserved.length === 0) {
    telemetry.countFlush(events.length, { lookUp, insert: undefined })
    return outcomes
  }
  const stored = await store(parts, reserved, deadlineMs - (decidedAtMs - startedAtMs), retryOf(parts, signal))
  for (const [index, { incoming, reservation }] of reserved.entries()) {
    if (stored[index] !== 'stored') reservation.cancel()
    else {
      reservation.confirm()
      if (incoming.event.eventId !== undefined) duplicates.remember(incoming, incoming.event.receivedAtMs)
    }
  }
  telemetry.countFlush(events.length, { lookUp, insert: (performance.now() - decidedAtMs) / 1000 })
  let next = 0
  return outcomes.map((outcome) => (outcome === 'stored' ? (stored[next++] as Outcome | Problem) : outcome))
}

/**
 * Looks up duplicates, and reserves the new events below the ceiling of their accounts.
 * @throws Problem `unavailable`, `query_timeout`, or the signal's reason
 */
export async function decideEvents(
  parts: FlushParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<Decisions> {
  const { duplicates, ceiling } = parts
  const named = events.filter(({ event }) => event.eventId !== undefined)
  const months = monthsOf(events)
  const [lastOf] = await retryWhileUnavailable(
    'looking up events',
    () => Promise.all([duplicates.findLast(named, signal), ceiling.prepare(new Set(months))]),
    retryOf(parts, signal),
  )
  const reserved: ReservedEvent[] = []
  const outcomes = events.map((incoming, index): Outcome => {
    const last = incoming.event.eventId === undefined ? undefined : lastOf(incoming)
    const generation = generationAfter(last, incoming.event.receivedAtMs)
    if (generation === undefined) return 'duplicate'
    const reservation = ceiling.reserve(months[index] as AccountMonth, incoming.clickAllowance)
    if (!reservation) return 'over_ceiling'
    reserved.push({ incoming, reservation, row: rowOf(incoming, generation) })
    return 'stored'
  })
  return { outcomes, reserved }
}

/**
 * Stores events. After a failed or unconfirmed insert they are looked up, since they may be stored nevertheless.
 * @param remainingMs until the deadline of the flush
 * @returns one outcome per event, in their order; a Problem for an event that is not known to be stored
 */
async function store(
  parts: FlushParts,
  reserved: readonly ReservedEvent[],
  remainingMs: number,
  retry: FlushRetry,
): Promise<(Outcome | Problem)[]> {
  const rows = reserved.map(({ row }) => row)
  const late = AbortSignal.timeout(Math.max(0, Math.round(remainingMs * insertShare)))
  try {
    await insertEvents(parts.clickhouse, rows, { ...retry, signal: AbortSignal.any([retry.signal, late]) })
    return reserved.map(() => 'stored')
  } catch (error) {
    const outcomes = await findUnconfirmed(parts, reserved, retry).catch(() => reserved.map(notStored))
    const failed = outcomes.filter((outcome) => outcome instanceof Problem).length
    if (failed > 0) parts.log.error(error, `${failed} events are not known to be stored; responding 503`)
    return outcomes
  }
}

/** @throws Problem `unavailable`, or the signal's reason */
async function findUnconfirmed(
  { clickhouse, duplicates }: FlushParts,
  reserved: readonly ReservedEvent[],
  retry: FlushRetry,
): Promise<(Outcome | Problem)[]> {
  const { signal } = retry
  const events = reserved.map(({ incoming }) => incoming)
  const lastOf = await retryWhileUnavailable(
    'looking up unconfirmed events',
    () => duplicates.findLast(events, signal),
    retry,
  )
  const outcomes = reserved.map(({ incoming, row }): Outcome | Problem => {
    const last = lastOf(incoming)
    if (!last || last.generation < row.generation) return notStored()
    return last.receivedAtMs === row.receivedAt ? 'stored' : 'duplicate'
  })
  const unconfirmed = reserved.filter((_, index) => outcomes[index] instanceof Problem).map(({ row }) => row)
  // An insert that is still running may store them in addition to the retry of the client. The error is discarded: without
  // the record, the count of the month is too high until a merge.
  if (unconfirmed.length > 0) await recordRetries(clickhouse, unconfirmed, signal).catch(() => {})
  return outcomes
}

function retryOf({ log, deadlineMs }: FlushParts, signal: AbortSignal): FlushRetry {
  return { onMessage: (line) => log.warn(line), signal, giveUpAfterMs: deadlineMs }
}

function notStored(): Problem {
  return new Problem('unavailable', 'The event is not acknowledged; retry with the same event_id.', { retryAfterS: 2 })
}
