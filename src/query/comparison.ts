import type { Comparison } from '../../schema/comparison.ts'
import type { Dimension } from '../../schema/dimensions.ts'
import { intervals } from '../../schema/stats.ts'
import { Problem } from '../problem.ts'
import { type CalendarBucket, calendarOf, type Interval } from './calendarIntervals.ts'
import { earliestMs, type Range } from './timeRange.ts'
import { atInstant, startOfDate } from './timeZone.ts'

export interface ComparedRange {
  /** An earlier range ends at the present local time if the range includes the present; empty if it would end before it starts. */
  range: Range
  /** @returns the id of the bucket in the other range that a bucket is compared with; null if there is none */
  counterpartOf(dimension: Dimension, id: string): string | null
}

/**
 * Computes the earlier range of a comparison. A range of whole local days is shifted by its number of days, any other range
 * by its duration; for `previous_year` both are shifted by a calendar year. Whole days remain whole days.
 * @throws Problem `invalid_compare` when the earlier range starts before the year 0
 */
export function previousRange(comparison: Comparison, range: Range, zone: string, nowMs: number): ComparedRange {
  const { shift, ...shifted } = shiftOf(comparison, range, zone)
  const whole = notReversed(shifted)
  if (whole.fromMs < earliestMs) {
    throw new Problem('invalid_compare', 'The earlier range starts before the year 0 in UTC.', { param: 'compare' })
  }
  const isPresent = range.fromMs <= nowMs && nowMs < range.untilMs
  return {
    range: isPresent ? notReversed({ ...whole, untilMs: Math.min(whole.untilMs, shift(nowMs).epochMs) }) : whole,
    counterpartOf: counterparts((interval) => matchBuckets(interval, range, whole, zone, shift)),
  }
}

/** Any other range of a comparison. Hours, days, weeks and months are matched by position, also those without rows. */
export function otherRange(other: Range, range: Range, zone: string): ComparedRange {
  return { range: other, counterpartOf: counterparts((interval) => matchPositions(interval, range, other, zone)) }
}

/** Matches the buckets of an interval once. Other dimensions are matched by id. */
function counterparts(match: (interval: Interval) => ReadonlyMap<string, string>): ComparedRange['counterpartOf'] {
  const matched = new Map<Interval, ReadonlyMap<string, string>>()
  return (dimension, id) => {
    if (!isInterval(dimension)) return id
    const known = matched.get(dimension) ?? match(dimension)
    matched.set(dimension, known)
    return known.get(id) ?? null
  }
}

/** Local times can be reversed: 02:45 and then 02:10, when a clock is set back; or 28 and 29 February a year earlier. */
function notReversed({ fromMs, untilMs }: Range): Range {
  return { fromMs, untilMs: Math.max(fromMs, untilMs) }
}

function isInterval(dimension: Dimension): dimension is Interval & Dimension {
  return (intervals as readonly Dimension[]).includes(dimension)
}

/** Moves an instant to the earlier range; `has` tells whether its local hour and its date exist there. */
type Shift = (epochMs: number) => { epochMs: number; has: { hour: boolean; day: boolean } }

/** @returns the earlier range, including what is after the present, and how instants are moved to it */
function shiftOf(comparison: Comparison, { fromMs, untilMs }: Range, zone: string): Range & { shift: Shift } {
  const isWholeDays = isStartOfDate(fromMs, zone) && isStartOfDate(untilMs, zone)
  if (comparison === 'previous_period' && !isWholeDays) {
    const durationMs = untilMs - fromMs
    const shift: Shift = (epochMs) => ({ epochMs: epochMs - durationMs, has: { hour: true, day: true } })
    return { fromMs: fromMs - durationMs, untilMs: fromMs, shift }
  }
  const dateOf = (epochMs: number) => atInstant(epochMs, zone).toPlainDate()
  const duration = comparison === 'previous_year' ? { years: 1 } : { days: dateOf(fromMs).until(dateOf(untilMs)).days }
  const shift: Shift = (epochMs) => {
    const local = atInstant(epochMs, zone).toPlainDateTime()
    const earlier = local.subtract(duration)
    const moved = earlier.toZonedDateTime(zone)
    // 29 February, for example, is moved to 28 February, which is not moved back.
    const day =
      moved.toPlainDate().equals(earlier.toPlainDate()) &&
      earlier.add(duration).toPlainDate().equals(local.toPlainDate())
    return { epochMs: moved.epochMilliseconds, has: { hour: day && moved.toPlainDateTime().equals(earlier), day } }
  }
  // TRAP: the local time of a start of date is not always midnight: clocks are set forward from 00:00 to 01:00 in Chile.
  const startMs = isStartOfDate(fromMs, zone)
    ? startOfDate(dateOf(fromMs).subtract(duration), zone)
    : shift(fromMs).epochMs
  // The end of whole days is shifted with the last day: a range up to 28 February includes that day in every year.
  const endMs = isStartOfDate(untilMs, zone)
    ? startOfDate(dateOf(untilMs).subtract({ days: 1 }).subtract(duration).add({ days: 1 }), zone)
    : shift(untilMs).epochMs
  return { fromMs: startMs, untilMs: endMs, shift }
}

function isStartOfDate(epochMs: number, zone: string): boolean {
  return startOfDate(atInstant(epochMs, zone).toPlainDate(), zone) === epochMs
}

/** @returns ids of the buckets of the earlier range by ids of the present range: hours and days by local time, others by position */
function matchBuckets(
  interval: Interval,
  range: Range,
  previous: Range,
  zone: string,
  shift: Shift,
): ReadonlyMap<string, string> {
  if (previous.fromMs === previous.untilMs) return new Map()
  if (interval === 'week' || interval === 'month') return matchPositions(interval, range, previous, zone)
  const earlier = calendarOf(interval, previous, zone)
  return matchIds(calendarOf(interval, range, zone), ({ fromMs }) => {
    const { epochMs, has } = shift(Math.max(fromMs, range.fromMs))
    return has[interval] ? earlier.find((bucket) => bucket.fromMs <= epochMs && epochMs < bucket.untilMs) : undefined
  })
}

function matchPositions(interval: Interval, range: Range, other: Range, zone: string): ReadonlyMap<string, string> {
  const others = calendarOf(interval, other, zone)
  return matchIds(calendarOf(interval, range, zone), (_bucket, index) => others[index])
}

function matchIds(
  buckets: readonly CalendarBucket[],
  match: (bucket: CalendarBucket, index: number) => CalendarBucket | undefined,
): ReadonlyMap<string, string> {
  return new Map(
    buckets.flatMap((bucket, index) => {
      const counterpart = match(bucket, index)
      return counterpart ? [[bucket.id, counterpart.id] as const] : []
    }),
  )
}
