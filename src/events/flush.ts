import { Problem } from '../problem.ts'
import { insertRows } from '../stores/clickhouse/insert.ts'
import { RowBinary } from '../stores/clickhouse/rowBinary.ts'
import type { ClickHouse } from '../stores/cluster/connection.ts'
import { type RetryOptions, retryWhileUnavailable } from '../stores/timing/retry.ts'
import { pixelEventColumns, sentWithinMs } from '../writer/tables/pixelEvent.ts'
import { findAcceptances, generationAfter, noteDifference } from './duplicates.ts'
import type { FairUseCeiling, MonthCount } from './fairUseCeiling.ts'
import { type IncomingEvent, unsettled } from './incomingEvent.ts'
import type { EventMetrics } from './prometheusMetrics.ts'

export interface FlushParts {
  clickhouse: ClickHouse
  ceiling: FairUseCeiling
  metrics: EventMetrics
  log: { warn: (text: string) => void; error: (error: unknown, text: string) => void }
  /** Maximum duration of a flush, milliseconds. */
  timeoutMs: number
}

type FlushRetry = RetryOptions & { signal: AbortSignal }

/** Share of the remaining time that an insert has; the rest is for looking up events with an unknown outcome. */
const insertShare = 0.8
/** An event for whose insert less time is left gets 503. */
const insertMsMin = 2_000

/**
 * Settles events together and stores the new ones in one insert. A failed insert fails only the events in it: their outcome is a
 * Problem if they are not known to be stored. When it throws, no event is stored.
 */
export async function flushEvents(
  parts: FlushParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<void> {
  const { metrics, timeoutMs } = parts
  const startedAtMs = performance.now()
  await decideEvents(parts, events, signal)
  const decidedAtMs = performance.now()
  const lookUp = (decidedAtMs - startedAtMs) / 1000
  const reserved = unsettled(events)
  if (reserved.length === 0) {
    metrics.countFlush(events.length, { lookUp, insert: undefined })
    return
  }
  await storeInTime(parts, reserved, timeoutMs - (decidedAtMs - startedAtMs), retryOf(parts, signal))
  for (const { monthCount, outcome } of reserved) {
    if (outcome === 'stored') monthCount?.confirm()
    else monthCount?.markUnknown()
  }
  metrics.countFlush(events.length, { lookUp, insert: (performance.now() - decidedAtMs) / 1000 })
}

/**
 * Settles duplicates and events above the ceiling of their accounts. The other events get a reservation and the generation that
 * they are stored as.
 */
export async function decideEvents(
  parts: FlushParts,
  events: readonly IncomingEvent[],
  signal: AbortSignal,
): Promise<void> {
  const { clickhouse, ceiling } = parts
  const named = events.filter(({ key }) => key !== undefined).map(({ row }) => row)
  const [lastOf] = await retryWhileUnavailable(
    'looking up events',
    () => Promise.all([findAcceptances(clickhouse, named, signal), ceiling.assignCounts(events)]),
    retryOf(parts, signal),
  )
  for (const event of events) {
    const { row, key, clickAllowance } = event
    const last = key === undefined ? undefined : lastOf(row)
    const generation = generationAfter(last, row.receivedAt)
    // The ceiling has given each event a count.
    if (generation === undefined) {
      event.outcome = 'duplicate'
      event.stored = last
      if (last) noteDifference(event, last)
    } else if (!(event.monthCount as MonthCount).reserve(clickAllowance)) event.outcome = 'over_ceiling'
    else row.generation = generation
  }
}

/**
 * Stores the events that can still be sent within `sentWithinMs`, since an erasure waits no longer for them. After a failed or unconfirmed
 * insert they are looked up, since they may be stored nevertheless.
 */
async function storeInTime(
  parts: FlushParts,
  reserved: readonly IncomingEvent[],
  remainingMs: number,
  retry: FlushRetry,
): Promise<void> {
  const { clickhouse, log } = parts
  const nowMs = performance.now()
  const leftMs = ({ sinceMs }: IncomingEvent) => sinceMs + sentWithinMs - nowMs
  for (const event of reserved) if (leftMs(event) < insertMsMin) event.outcome = notStored()
  const inTime = unsettled(reserved)
  const late = reserved.length - inTime.length
  if (late > 0) log.warn(`${late} events were received too long ago to be stored; responding 503`)
  if (inTime.length === 0) return
  const insertMs = inTime.reduce((least, event) => Math.min(least, leftMs(event)), remainingMs * insertShare)
  const timeout = AbortSignal.timeout(Math.max(0, Math.round(insertMs)))
  try {
    await insert(clickhouse, inTime, { ...retry, signal: AbortSignal.any([retry.signal, timeout]) })
    for (const event of inTime) event.outcome = 'stored'
  } catch (error) {
    await findUnconfirmed(parts, inTime, retry).catch(() => {})
    const failed = unsettled(inTime)
    for (const event of failed) event.outcome = notStored()
    if (failed.length > 0) log.error(error, `${failed.length} events are not known to be stored; responding 503`)
  }
}

/**
 * Stores the rows of events, at least one, in one insert; when it returns they are on disk. A retry has a new query id, so that
 * ClickHouse does not drop it as a duplicate of an attempt that it lost in a crash. Rows of two attempts have equal keys and collapse.
 * @throws Problem `unavailable` or the reason of `retry.signal`: the rows may be stored or not; or the driver's error
 */
async function insert(clickhouse: ClickHouse, events: readonly IncomingEvent[], retry: FlushRetry): Promise<void> {
  const out = new RowBinary()
  for (const { row } of events) for (const { write } of pixelEventColumns) write(out, row)
  const options = { table: 'pixel_events', columns: pixelEventColumns, areIndexesDeferred: true, signal: retry.signal }
  await retryWhileUnavailable('storing events', () => insertRows(clickhouse, { ...options, bytes: out.bytes }), retry)
}

/** Settles the events that are stored after all. @throws Problem `unavailable`, or the signal's reason */
async function findUnconfirmed(
  { clickhouse }: FlushParts,
  events: readonly IncomingEvent[],
  retry: FlushRetry,
): Promise<void> {
  const rows = events.map(({ row }) => row)
  const lastOf = await retryWhileUnavailable(
    'looking up unconfirmed events',
    () => findAcceptances(clickhouse, rows, retry.signal),
    retry,
  )
  for (const event of events) {
    const last = lastOf(event.row)
    if (!last?.isConfirmed || last.generation < event.row.generation) continue
    event.outcome = last.receivedAtMs === event.row.receivedAt ? 'stored' : 'duplicate'
  }
}

function retryOf({ log, timeoutMs }: FlushParts, signal: AbortSignal): FlushRetry {
  return { onMessage: (line) => log.warn(line), signal, giveUpAfterMs: timeoutMs }
}

function notStored(): Problem {
  return new Problem('unavailable', 'The event is not acknowledged; retry with the same event_id.', { retryAfterS: 2 })
}
