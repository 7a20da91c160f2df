import type { Static, TObject } from '@sinclair/typebox'
import { Temporal } from 'temporal-polyfill'
import type { compareParameters } from '../../schema/comparison.ts'
import type { daysParameter, localRangeParameters } from '../../schema/range.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { calendarRange } from './calendarRanges.ts'
import { parseTimeText } from './timeText.ts'
import { atInstant, localInstant, parseTimeZone, startOfDate } from './timeZone.ts'

/** A half-open range of time, `[fromMs, untilMs)`, in epoch milliseconds. */
export type Range = { fromMs: number; untilMs: number }

/** Time parameters of a request; an explicit range overrides `days`. */
export type RangeQuery = Static<TObject<typeof localRangeParameters & ReturnType<typeof daysParameter>>>

/** Time parameters of a request with a time zone. */
export type LocalRangeQuery = RangeQuery & { tz?: string }

/** Parameters of a request that names another range. */
export type ComparisonQuery = Static<TObject<typeof compareParameters>>

type TimeParameter = 'from' | 'to' | Exclude<keyof ComparisonQuery, 'compare'> | 'updated_since' | 'updated_after'

/** Longest range of a query, in local days. */
export const rangeDaysMax = 366
/** The same of a query by hour. */
export const hoursDaysMax = 31

/** Limits of RFC 3339 in UTC, since a report returns its range. An offset or a last day can lead beyond them. */
export const earliestMs = Date.parse('0000-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** Seconds of a leap second, which RFC 3339 allows. */
const leapSecond = /(?<=^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:)60/i
/** TRAP: the `+` of an offset can arrive as a space. */
const spaceOfPlus = /^(\d{4}-\d\d-\d\d[T ]\d\d?:\d\d\S{0,40}) {1,2}((?:0\d|1[0-5])(?::?\d\d)?)$/

/**
 * Reads the range of a list or a search: either end may be left out.
 * @param zone time zone of dates and local times
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function openRange(query: Pick<RangeQuery, 'from' | 'to'>, zone = 'UTC'): Partial<Range> {
  const fromMs = query.from === undefined ? undefined : parseTime('from', query.from, zone).epochMs
  const untilMs = query.to === undefined ? undefined : parseEnd('to', query.to, zone)
  if (fromMs !== undefined && untilMs !== undefined) assertOrdered(fromMs, untilMs)
  return { ...(fromMs !== undefined && { fromMs }), ...(untilMs !== undefined && { untilMs }) }
}

/**
 * Reads the time zone and the range of a report, stats or a funnel.
 * @param name what error messages call the request
 * @throws Problem `invalid_tz`, `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function localRange(query: LocalRangeQuery, daysDefault: number, daysMax: number, name: string, nowMs: number) {
  const zone = parseTimeZone(query.tz ?? 'UTC')
  const range = boundedRange(query, daysDefault, zone, nowMs)
  assertDaysAtMost(daysMax, range, zone, name)
  return { range, zone }
}

/**
 * Reads a range: a calendar range, `from` (to the end of today if alone), or the last `days` local days, including
 * today.
 * @param zone time zone of days, dates and local times
 * @throws Problem `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function boundedRange(query: RangeQuery, daysDefault: number, zone: string, nowMs: number): Range {
  if (query.range !== undefined) {
    const other = (['days', 'from', 'to'] as const).find((name) => query[name] !== undefined)
    if (other) throw invalidParameter('range', `and ${other} exclude each other; send one of them.`)
    return calendarRange(query.range, zone, nowMs)
  }
  if (query.from === undefined) {
    if (query.to !== undefined) throw new Problem('invalid_from', 'to requires from.', { param: 'from' })
    return lastDays(query.days ?? daysDefault, zone, nowMs)
  }
  const fromMs = parseTime('from', query.from, zone).epochMs
  const untilMs = query.to === undefined ? lastDays(1, zone, nowMs).untilMs : parseEnd('to', query.to, zone)
  assertOrdered(fromMs, untilMs)
  assertExpressible({ fromMs, untilMs }, 'from', 'to')
  return { fromMs, untilMs }
}

/**
 * Reads the compared range of `compare_from` and `compare_to`, which need not be earlier.
 * @param zone time zone of dates and local times
 * @param daysMax maximum number of local days
 * @returns undefined without `compare_from` and `compare_to`
 * @throws Problem `invalid_compare_from`, `invalid_compare_to`
 */
export function parseComparedRange(
  { compare, compare_from: from, compare_to: to, previous_until: cut }: ComparisonQuery,
  zone: string,
  daysMax: number,
): Range | undefined {
  if (from === undefined && to === undefined) return undefined
  if (from === undefined) throw invalidParameter('compare_from', 'is missing; compare_to requires it.')
  if (to === undefined) throw invalidParameter('compare_to', 'is missing; compare_from requires it.')
  if (compare !== undefined) throw invalidParameter('compare_from', 'and compare exclude each other; send one of them.')
  const range = { fromMs: parseTime('compare_from', from, zone).epochMs, untilMs: parseEnd('compare_to', to, zone) }
  if (range.fromMs >= range.untilMs) throw invalidParameter('compare_from', 'is not before the end of its range.')
  assertExpressible(range, 'compare_from', 'compare_to')
  // The whole unit before, which `next` names, can be a day longer: 1 January to 1 February, and 1 April to 1 May.
  if (spansAtMost(cut === undefined ? daysMax : daysMax + 1, range, zone)) return range
  throw invalidParameter('compare_to', `is more than ${daysMax} days after compare_from.`)
}

function assertExpressible({ fromMs, untilMs }: Range, from: TimeParameter, to: TimeParameter): void {
  if (fromMs < earliestMs) throw invalidParameter(from, 'is before the year 0 in UTC.')
  if (untilMs > latestMs) throw invalidParameter(to, 'is after the year 9999 in UTC.')
}

/**
 * Checks the length of a range.
 * @param daysMax maximum number of local days
 * @throws Problem `invalid_date_range`
 */
export function assertDaysAtMost(daysMax: number, range: Range, zone: string, what: string): void {
  if (spansAtMost(daysMax, range, zone)) return
  throw new Problem('invalid_date_range', `${what} spans at most ${daysMax} days.`)
}

function spansAtMost(daysMax: number, { fromMs, untilMs }: Range, zone: string): boolean {
  return atInstant(fromMs, zone).add({ days: daysMax }).epochMilliseconds >= untilMs
}

/** @returns the last local days up to the end of today */
function lastDays(count: number, zone: string, nowMs: number): Range {
  const today = atInstant(nowMs, zone).toPlainDate()
  const untilMs = startOfDate(today.add({ days: 1 }), zone)
  return { fromMs: startOfDate(today.subtract({ days: count - 1 }), zone), untilMs }
}

/**
 * Reads a single instant; a date is its midnight, UTC.
 * @throws Problem `invalid_<param>`
 */
export function parseInstant(param: 'previous_until' | 'updated_since' | 'updated_after', text: string): number {
  return parseTime(param, text, 'UTC').epochMs
}

/** @returns the time in the format of responses: RFC 3339, UTC, milliseconds */
export function toInstantText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** @returns a range in the format of responses */
export function rangeTexts({ fromMs, untilMs }: Range): { from: string; to: string } {
  return { from: toInstantText(fromMs), to: toInstantText(untilMs) }
}

/** @returns the end of a date, or the time itself */
function parseEnd(param: 'to' | 'compare_to', text: string, zone: string): number {
  const { epochMs, date } = parseTime(param, text, zone)
  return date ? startOfDate(date.add({ days: 1 }), zone) : epochMs
}

/**
 * Rounds up to milliseconds; `updated_since` and `updated_after` are rounded down, so that no row is missed. A leap second is the
 * second after it.
 * @param zone time zone of dates, and of times without offset
 */
function parseTime(param: TimeParameter, text: string, zone: string): { epochMs: number; date?: Temporal.PlainDate } {
  const time = parseTimeText(text.replace(leapSecond, '59').replace(spaceOfPlus, '$1+$2'))
  if (!time) {
    throw invalidParameter(
      param,
      'is not a valid date or time; use the form 2026-11-01, 2026-11-01T14:00 or 2026-11-01T14:00:00Z.',
    )
  }
  const utc = new Date(time.ms).toISOString().slice(0, -1)
  if (time.kind === 'date') {
    const date = Temporal.PlainDate.from(utc)
    return { epochMs: startOfDate(date, zone), date }
  }
  const local = Temporal.PlainDateTime.from(`${utc}${time.below.slice(0, 6)}`)
  const instant = time.kind === 'local' ? localInstant(local, zone) : local.toZonedDateTime('UTC').toInstant()
  const roundingMode = param.startsWith('updated') ? 'floor' : 'ceil'
  const { epochMilliseconds } = instant.round({ smallestUnit: 'millisecond', roundingMode })
  return { epochMs: epochMilliseconds + (leapSecond.test(text) ? 1_000 : 0) }
}

function assertOrdered(fromMs: number, untilMs: number): void {
  if (fromMs < untilMs) return
  const [from, end] = [toInstantText(fromMs), toInstantText(untilMs)]
  throw new Problem('invalid_date_range', `from (${from}) is not before the end of the range (${end}).`)
}
