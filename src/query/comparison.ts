import type { Comparison } from '../../schema/comparison.ts'
import type { Dimension } from '../../schema/dimensions.ts'
import type { RangeName } from '../../schema/range.ts'
import { intervals } from '../../schema/stats.ts'
import { Problem } from '../problem.ts'
import { dayMs } from '../stores/timing/units.ts'
import { calendarOf, type Interval } from './calendarIntervals.ts'
import { unitBefore } from './calendarRanges.ts'
import { earliestMs, type Range } from './timeRange.ts'
import { localInstantsOf, localTimesOf } from './timeZone.ts'

export interface ComparedRange {
  /** An earlier range ends at the present local time if the range includes the present; empty if it would end before it starts. */
  range: Range
  /** The range with the part that is after the present. */
  whole: Range
  /** @returns the id of the bucket in the compared range that a bucket is compared with; null if there is none */
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
    whole,
    counterpartOf: counterparts((interval) => matchBuckets(interval, range, whole, zone, shift)),
  }
}

/** The unit before a calendar range. Hours, days, weeks and months are matched by position. */
export function previousUnit(name: RangeName, range: Range, zone: string, nowMs: number): ComparedRange {
  const before = unitBefore(name, range.fromMs, zone, nowMs)
  return { ...comparedByPosition(before.whole, range, zone), range: before.range }
}

/** A compared range without a shift from the range. Hours, days, weeks and months are matched by position, also those without rows. */
export function comparedByPosition(compared: Range, range: Range, zone: string): ComparedRange {
  const counterpartOf = counterparts((interval) => matchPositions(interval, range, compared, zone))
  return { range: compared, whole: compared, counterpartOf }
}

/** The id of the counterpart of a bucket. */
type Counterpart = (id: string) => string | undefined

/** Reads the calendars of an interval once. Other dimensions are matched by id. */
function counterparts(counterpartIn: (interval: Interval) => Counterpart): ComparedRange['counterpartOf'] {
  const known = new Map<Interval, Counterpart>()
  return (dimension, id) => {
    if (!isInterval(dimension)) return id
    const counterpart = known.get(dimension) ?? counterpartIn(dimension)
    known.set(dimension, counterpart)
    return counterpart(id) ?? null
  }
}

/** Local times can be reversed: 02:45 and then 02:10, when a clock is set back; or 28 and 29 February a year earlier. */
function notReversed({ fromMs, untilMs }: Range): Range {
  return { fromMs, untilMs: Math.max(fromMs, untilMs) }
}

export function isInterval(dimension: Dimension): dimension is Interval & Dimension {
  return (intervals as readonly Dimension[]).includes(dimension)
}

/** Moves an instant to the earlier range; `has` tells whether its local hour and its date exist there. */
type Shift = (epochMs: number) => { epochMs: number; has: { hour: boolean; day: boolean } }

/** @returns the earlier range, including what is after the present, and how instants are moved to it */
function shiftOf(comparison: Comparison, { fromMs, untilMs }: Range, zone: string): Range & { shift: Shift } {
  const durationMs = untilMs - fromMs
  // Both ranges: an earlier one starts by the duration or a year earlier, and clock changes of up to a day move it.
  const covered = { fromMs: fromMs - Math.max(durationMs, 366 * dayMs) - 2 * dayMs, untilMs: untilMs + 2 * dayMs }
  const [toLocal, toInstant] = [localTimesOf(zone, covered), localInstantsOf(zone, covered)]
  const dateOf = (epochMs: number) => startOfUtcDay(toLocal(epochMs))
  const isStartOfDate = (epochMs: number) => toInstant(dateOf(epochMs)) === epochMs
  const isWholeDays = isStartOfDate(fromMs) && isStartOfDate(untilMs)
  if (comparison === 'previous_period' && !isWholeDays) {
    const shift: Shift = (epochMs) => ({ epochMs: epochMs - durationMs, has: { hour: true, day: true } })
    return { fromMs: fromMs - durationMs, untilMs: fromMs, shift }
  }
  const daysMs = dateOf(untilMs) - dateOf(fromMs)
  const earlierOf = (localMs: number) => (comparison === 'previous_year' ? yearBefore(localMs) : localMs - daysMs)
  const shift: Shift = (epochMs) => {
    const localMs = toLocal(epochMs)
    const earlierMs = earlierOf(localMs)
    const instantMs = toInstant(earlierMs)
    const exists = toLocal(instantMs) === earlierMs
    // A skipped local time is the time that a clock would show that is not set forward.
    const movedMs = exists ? instantMs : instantMs + earlierMs - (toLocal(instantMs - 1) + 1)
    const day = dateOf(movedMs) === startOfUtcDay(earlierMs) && !(comparison === 'previous_year' && isLeapDay(localMs))
    return { epochMs: movedMs, has: { hour: day && exists, day } }
  }
  // TRAP: the local time of a start of date is not always midnight: clocks are set forward from 00:00 to 01:00 in Chile.
  const startMs = isStartOfDate(fromMs) ? toInstant(earlierOf(dateOf(fromMs))) : shift(fromMs).epochMs
  // The end of whole days is shifted with the last day: a range up to 28 February includes that day in every year.
  const endMs = isStartOfDate(untilMs) ? toInstant(earlierOf(dateOf(untilMs) - dayMs) + dayMs) : shift(untilMs).epochMs
  return { fromMs: startMs, untilMs: endMs, shift }
}

function startOfUtcDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs) * dayMs
}

/** A leap day is moved to 28 February, which is not moved back. */
function isLeapDay(localMs: number): boolean {
  const local = new Date(localMs)
  return local.getUTCMonth() === 1 && local.getUTCDate() === 29
}

/** @returns the same time of the same date one year earlier, or of 28 February */
function yearBefore(localMs: number): number {
  const local = new Date(isLeapDay(localMs) ? localMs - dayMs : localMs)
  return local.setUTCFullYear(local.getUTCFullYear() - 1)
}

/** Hours and days are matched by local time, others by position. */
function matchBuckets(interval: Interval, range: Range, previous: Range, zone: string, shift: Shift): Counterpart {
  if (previous.fromMs === previous.untilMs) return () => undefined
  if (interval === 'week' || interval === 'month') return matchPositions(interval, range, previous, zone)
  const starts = new Map(
    calendarOf(interval, range, zone).map(({ id, fromMs }) => [id, Math.max(fromMs, range.fromMs)]),
  )
  const earlier = calendarOf(interval, previous, zone)
  return (id) => {
    const startMs = starts.get(id)
    if (startMs === undefined) return undefined
    const { epochMs, has } = shift(startMs)
    if (!has[interval]) return undefined
    return earlier.find(({ fromMs, untilMs }) => fromMs <= epochMs && epochMs < untilMs)?.id
  }
}

function matchPositions(interval: Interval, range: Range, compared: Range, zone: string): Counterpart {
  const units = calendarOf(interval, compared, zone)
  const counterpartById = new Map(calendarOf(interval, range, zone).map(({ id }, index) => [id, units[index]?.id]))
  return (id) => counterpartById.get(id)
}
