import { duplicateWindowMs } from '../../../schema/event.ts'
import type { Range } from '../../query/timeRange.ts'
import { ch, type Fragment, text } from '../../stores/clickhouse/sql.ts'

/** The events of an account in a part of the table that have one origin and were received in one month. */
export interface EventPart {
  part: string
  origin: string
  /** When the first and the last of them were received, epoch milliseconds. */
  firstReceivedMs: number
  lastReceivedMs: number
  /** When the first and the last of them were stored. */
  firstStoredMs: number
  lastStoredMs: number
  /** The shortest and the longest time from when an event occurred until it was received; negative if it is dated later. */
  minReceivedAfterMs: number
  maxReceivedAfterMs: number
  /** The same until it was stored. */
  minStoredAfterMs: number
  maxStoredAfterMs: number
  withoutVisitor: number
}

/**
 * The parts with events of an account, from the projection `by_month`. With a condition on other columns all events would be
 * read.
 * @returns rows of `EventPart`
 */
export function eventPartsSql(accountId: string): Fragment {
  return ch`
SELECT
  _part AS part,
  origin,
  toUnixTimestamp64Milli(min(received_at)) AS firstReceivedMs,
  toUnixTimestamp64Milli(max(received_at)) AS lastReceivedMs,
  toUnixTimestamp64Milli(min(stored_at)) AS firstStoredMs,
  toUnixTimestamp64Milli(max(stored_at)) AS lastStoredMs,
  toInt64(min(received_at - occurred_at) * 1000) AS minReceivedAfterMs,
  toInt64(max(received_at - occurred_at) * 1000) AS maxReceivedAfterMs,
  toInt64(min(stored_at - occurred_at) * 1000) AS minStoredAfterMs,
  toInt64(max(stored_at - occurred_at) * 1000) AS maxStoredAfterMs,
  countIf(empty(visitor_id)) AS withoutVisitor
FROM pixel_events
WHERE account_id = ${text(accountId)}
GROUP BY part, origin, toStartOfMonth(received_at)`
}

/** When the events that can have copies occurred, were received and were stored; in ascending order. */
export interface CopyRanges {
  /** Events are read in the order of this time, so ClickHouse reads only these ranges; empty if there are no copies. */
  occurred: Range[]
  /**
   * Events without copies also occur in these ranges; those with copies were also received or stored in one of the ranges below.
   * Undefined if this condition would exclude few events.
   */
  accepted: { received: Range[]; stored: Range[] } | undefined
}

/**
 * If both delays vary by less than this, `received_at` and `stored_at` are not compared: it is a small part of the 24 hours around
 * the limit of a part.
 */
const similarMs = 3_600_000

/**
 * Where the copies of events are. A part has no copies in itself. Copies were received within `duplicateWindowMs` of each other,
 * since later the id is another event; or they were stored within this time, if an import and the API store one id. So each
 * copy was received, or stored, within this time of an event of another part. Parts that follow each other in time have only a
 * few such events.
 */
export function copyRangesOf(parts: readonly EventPart[]): CopyRanges {
  const origins = [...new Set(parts.map(({ origin }) => origin))]
  const rangesOf = (limitsOf: (part: EventPart) => readonly [firstMs: number, lastMs: number]) =>
    limitRanges(
      joinRanges(
        origins.flatMap((origin) =>
          overlapsOf(
            parts.filter((part) => part.origin === origin),
            limitsOf,
          ),
        ),
      ),
    )
  const received = rangesOf(({ firstReceivedMs, lastReceivedMs }) => [firstReceivedMs, lastReceivedMs])
  const stored = rangesOf(({ firstStoredMs, lastStoredMs }) => [firstStoredMs, lastStoredMs])
  const receivedAfter = extremesOf(parts.flatMap((part) => [part.minReceivedAfterMs, part.maxReceivedAfterMs]))
  const storedAfter = extremesOf(parts.flatMap((part) => [part.minStoredAfterMs, part.maxStoredAfterMs]))
  const occurred = [...received.map(earlierBy(receivedAfter)), ...stored.map(earlierBy(storedAfter))]
  const areSimilar = [receivedAfter, storedAfter].every(({ minMs, maxMs }) => maxMs - minMs < similarMs)
  return { occurred: joinRanges(occurred), accepted: areSimilar ? undefined : { received, stored } }
}

function extremesOf(valuesMs: readonly number[]): { minMs: number; maxMs: number } {
  return { minMs: Math.min(...valuesMs), maxMs: Math.max(...valuesMs) }
}

/** @returns a function that moves a range back by every time between two */
function earlierBy({ minMs, maxMs }: { minMs: number; maxMs: number }): (range: Range) => Range {
  return ({ fromMs, untilMs }) => ({ fromMs: fromMs - maxMs, untilMs: untilMs - minMs })
}

/** The times that are within `duplicateWindowMs` of at least two parts. */
function overlapsOf(
  parts: readonly EventPart[],
  limitsOf: (part: EventPart) => readonly [firstMs: number, lastMs: number],
): Range[] {
  const rangesOfParts = new Map<string, Range[]>()
  for (const part of parts) {
    const [firstMs, lastMs] = limitsOf(part)
    const range = { fromMs: firstMs - duplicateWindowMs, untilMs: lastMs + duplicateWindowMs + 1 }
    rangesOfParts.set(part.part, [...(rangesOfParts.get(part.part) ?? []), range])
  }
  // TRAP: the ranges of one part are joined first: those of its adjacent months are no overlap.
  const ranges = [...rangesOfParts.values()].flatMap(joinRanges)
  const limits = ranges
    .flatMap(({ fromMs, untilMs }) => [
      { atMs: fromMs, change: 1 },
      { atMs: untilMs, change: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.change - b.change)
  const overlaps: Range[] = []
  let covering = 0
  for (const { atMs, change } of limits) {
    if (covering === 1 && change === 1) overlaps.push({ fromMs: atMs, untilMs: atMs })
    covering += change
    const last = overlaps.at(-1)
    if (last && covering === 1 && change === -1) last.untilMs = atMs
  }
  return overlaps
}

/** Joins ranges that overlap or touch. @returns in ascending order */
function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: Range[] = []
  for (const { fromMs, untilMs } of ranges.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs)
    else joined.push({ fromMs, untilMs })
  }
  return joined
}

/** Maximum number of ranges in a query: each costs two comparisons for every event. */
const rangesMax = 16

/** @returns one range around all of them if they are too many */
function limitRanges(ranges: Range[]): Range[] {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (!first || !last || ranges.length <= rangesMax) return ranges
  return [{ fromMs: first.fromMs, untilMs: last.untilMs }]
}
