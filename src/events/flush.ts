import { Problem } from '../problem.ts'
import type { ClickHouse } from '../stores/clickhouse/connection.ts'
import { insertRows } from '../stores/clickhouse/insert.ts'
import { RowBinary } from '../stores/clickhouse/rowBinary.ts'
import type { QueryTarget } from '../stores/clickhouse/select.ts'
import { type RetryOptions, retryWhileUnavailable } from '../stores/timing/retry.ts'
import { type PixelEvent, pixelEventColumns, sentWithinMs } from '../writer/tables/pixelEvent.ts'
import { besideProblems } from './besideProblems.ts'
import { findAcceptances, generationAfter, type Outcome } from './duplicates.ts'
import type { FairUseCeiling, MonthCount } from './fairUseCeiling.ts'
import { type IncomingEvent, rowOf } from './incomingEvent.ts'
import type { EventMetrics } from './prometheusMetrics.ts'

export interface FlushParts {
  clickhouse: ClickHouse
  /** The connections of writes: look-ups of events do not wait for reads of clients. */
  reader: QueryTarget
  ceiling: FairUseCeiling
  metrics: EventMetrics
  log: { warn: (text: string) => void; error: (error: unknown, text: string) => void }
  /** Maximum duration of a flush, milliseconds. */
  timeoutMs: number
}

/** An event to store; the count has a reservation for it. */
interface ReservedEvent {
  incoming: IncomingEvent
  count: MonthCount
  row: PixelEvent
}

type FlushRetry = RetryOptions & { signal: AbortSignal }

/** Share of the remaining time that an insert has; the rest is for looking up events with an unknown outcome. */
const insertShare = 0.8
/** An event for whose insert less time is left gets 503. */
const insertMsMin = 2_000

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
  const { metrics, timeoutMs } = parts
  const startedAtMs = performance.now()
  const { outcomes, reserved } = await decideEvents(parts, events, signal)
  const decidedAtMs = performance.now()
  const lookUp = (decidedAtMs - startedAtMs) / 1000
  if (reserved.length === 0) {
    metrics.countFlush(events.length, { lookUp, insert: undefined })
    return outcomes
  }
  const stored = await storeInTime(parts, reserved, timeoutMs - (decidedAtMs - startedAtMs), retryOf(parts, signal))
  for (const [index, { count }] of reserved.entries()) {
    if (stored[index] === 'stored') count.confirm()
    else count.cancel()
  }
  metrics.countFlush(events.length, { lookUp, insert: (performance.now() - decidedAtMs) / 1000 })
  let next = 0
  return outcomes.map((outcome) => (outcome === 'stored' ? (stored[next++] as Outcome | Problem) : outcome))
}

/**
 * Looks up duplicates, and reserves the new events below the ceiling of their accounts.
 * @returns one outcome per event, in their order; `stored` for the reserved events
 * @throws like `flushEvents`
 */
export async function decideEvents(
  parts: FlushParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<{ outcomes: Outcome[]; reserved: ReservedEvent[] }> {
  const { reader, ceiling } = parts
  const named = events.filter(({ event }) => event.eventId !== undefined)
  const [lastOf, counts] = await retryWhileUnavailable(
    'looking up events',
    () => Promise.all([findAcceptances(reader, named, signal), ceiling.countsOf(events)]),
    retryOf(parts, signal),
  )
  const reserved: ReservedEvent[] = []
  const outcomes = events.map((incoming, index): Outcome => {
    const last = incoming.event.eventId === undefined ? undefined : lastOf(incoming)
    const generation = generationAfter(last, incoming.event.receivedAtMs)
    if (generation === undefined) return 'duplicate'
    const count = counts[index] as MonthCount
    if (!count.reserve(incoming.clickAllowance)) return 'over_ceiling'
    reserved.push({ incoming, count, row: rowOf(incoming, generation) })
    return 'stored'
  })
  return { outcomes, reserved }
}

/**
 * Stores the events that can still be sent within `sentWithinMs`, since an erasure waits no longer for them.
 * @returns one outcome per event, in their order; a Problem for an event that is not known to be stored
 */
async function storeInTime(
  parts: FlushParts,
  reserved: readonly ReservedEvent[],
  remainingMs: number,
  retry: FlushRetry,
): Promise<(Outcome | Problem)[]> {
  const nowMs = performance.now()
  const leftMs = ({ incoming }: ReservedEvent) => incoming.sinceMs + sentWithinMs - nowMs
  const events = reserved.map((event) => (leftMs(event) >= insertMsMin ? event : notStored()))
  const late = events.filter((event) => event instanceof Problem).length
  if (late > 0) parts.log.warn(`${late} events were received too long ago to be stored; responding 503`)
  return await besideProblems(events, (inTime) => {
    const insertMs = inTime.reduce((least, event) => Math.min(least, leftMs(event)), remainingMs * insertShare)
    return store(parts, inTime, insertMs, retry)
  })
}

/**
 * Stores events. After a failed or unconfirmed insert they are looked up, since they may be stored nevertheless.
 * @param insertMs maximum duration of the insert, milliseconds
 */
async function store(
  parts: FlushParts,
  reserved: readonly ReservedEvent[],
  insertMs: number,
  retry: FlushRetry,
): Promise<(Outcome | Problem)[]> {
  const rows = reserved.map(({ row }) => row)
  const late = AbortSignal.timeout(Math.max(0, Math.round(insertMs)))
  try {
    await insert(parts.clickhouse, rows, { ...retry, signal: AbortSignal.any([retry.signal, late]) })
    return reserved.map(() => 'stored')
  } catch (error) {
    const outcomes = await findUnconfirmed(parts, reserved, retry).catch(() => reserved.map(notStored))
    const failed = outcomes.filter((outcome) => outcome instanceof Problem).length
    if (failed > 0) parts.log.error(error, `${failed} events are not known to be stored; responding 503`)
    return outcomes
  }
}

const buffers: RowBinary[] = []

/**
 * Stores at least one row in one insert; when it returns they are on disk. A retry has a new query id, so that ClickHouse does
 * not drop it as a duplicate of an attempt that it lost in a crash. Rows of two attempts have equal keys and collapse.
 * @throws Problem `unavailable` or the reason of `retry.signal`: the rows may be stored or not; or the driver's error
 */
async function insert(clickhouse: ClickHouse, rows: readonly PixelEvent[], retry: FlushRetry): Promise<void> {
  const out = buffers.pop() ?? new RowBinary()
  for (const row of rows) for (const { write } of pixelEventColumns) write(out, row)
  const { signal } = retry
  const options = { table: 'pixel_events', columns: pixelEventColumns, areIndexesDeferred: true, signal }
  await retryWhileUnavailable('storing events', () => insertRows(clickhouse, { ...options, bytes: out.bytes }), retry)
  // Not after an error: an abandoned insert may still read the buffer.
  out.length = 0
  buffers.push(out)
}

/** @throws Problem `unavailable`, or the signal's reason */
async function findUnconfirmed(
  { reader }: FlushParts,
  reserved: readonly ReservedEvent[],
  retry: FlushRetry,
): Promise<(Outcome | Problem)[]> {
  const events = reserved.map(({ incoming }) => incoming)
  const lastOf = await retryWhileUnavailable(
    'looking up unconfirmed events',
    () => findAcceptances(reader, events, retry.signal),
    retry,
  )
  return reserved.map(({ incoming, row }) => {
    const last = lastOf(incoming)
    if (!last || last.generation < row.generation) return notStored()
    return last.receivedAtMs === row.receivedAt ? 'stored' : 'duplicate'
  })
}

function retryOf({ log, timeoutMs }: FlushParts, signal: AbortSignal): FlushRetry {
  return { onMessage: (line) => log.warn(line), signal, giveUpAfterMs: timeoutMs }
}

function notStored(): Problem {
  return new Problem('unavailable', 'The event is not acknowledged; retry with the same event_id.', { retryAfterS: 2 })
}
