import { Temporal } from 'temporal-polyfill'
import { Problem } from '../problem.ts'

/** A half-open range of moments, `[fromMs, untilMs)`, in epoch milliseconds. */
export interface Range {
  fromMs: number
  untilMs: number
}

/** What a caller may say about time; explicit ends win over `days`. */
export interface RangeQuery {
  from?: string
  to?: string
  days?: number
}

const dayMs = 86_400_000
const reportDaysMax = 366
/** What RFC 3339 can write in UTC. The range of a report is echoed; an offset, or a last day, may lead beyond. */
const earliestMs = Date.parse('0000-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** RFC 3339 knows the 61st second of a minute; Temporal takes it for the 60th. */
const leapSecond = /:\d\d:60/
const secondDigits = /^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d)(?=[Zz+-])/

/**
 * Reads the range of a list or a search: either end may be left out.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function listRange(query: Pick<RangeQuery, 'from' | 'to'>): Partial<Range> {
  const fromMs = query.from === undefined ? undefined : startOf('from', query.from)
  const untilMs = query.to === undefined ? undefined : endOf('to', query.to)
  if (fromMs !== undefined && untilMs !== undefined) assertOrdered(fromMs, untilMs)
  return { ...(fromMs !== undefined && { fromMs }), ...(untilMs !== undefined && { untilMs }) }
}

/**
 * Reads the range of a report: `from` (to the end of today when alone) or the last `days` UTC days, today included.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function reportRange(query: RangeQuery, daysDefault: number, nowMs: number): Range {
  const endOfTodayMs = startOfUtcDay(nowMs) + dayMs
  if (query.from === undefined) {
    if (query.to !== undefined) throw new Problem('invalid_from', 'to needs a from beside it.', { param: 'from' })
    return { fromMs: endOfTodayMs - (query.days ?? daysDefault) * dayMs, untilMs: endOfTodayMs }
  }
  const fromMs = startOf('from', query.from)
  const untilMs = query.to === undefined ? endOfTodayMs : endOf('to', query.to)
  assertOrdered(fromMs, untilMs)
  if (fromMs < earliestMs) throw new Problem('invalid_from', 'from lies before the year 0, in UTC.', { param: 'from' })
  if (untilMs > latestMs) throw new Problem('invalid_to', 'to lies after the year 9999, in UTC.', { param: 'to' })
  if (untilMs - fromMs > reportDaysMax * dayMs) {
    throw new Problem('invalid_date_range', `A report spans at most ${reportDaysMax} days.`)
  }
  return { fromMs, untilMs }
}

/**
 * Reads a moment that stands by itself; a date is its midnight.
 * @throws Problem `invalid_<param>`
 */
export function readInstant(param: 'updated_since', text: string): number {
  return readMoment(param, text).epochMs
}

/** A range cut into whole UTC days, which rollups hold, and what sticks out of them at either end. */
export interface DayAlignedRange {
  /** From one midnight to another; absent when the range holds no whole day. */
  days: Range | undefined
  /** At most two ranges, none of them empty. */
  edges: Range[]
}

/** Cuts a range at the UTC midnights inside it. */
export function splitAtMidnights({ fromMs, untilMs }: Range): DayAlignedRange {
  const firstMs = Math.ceil(fromMs / dayMs) * dayMs
  const lastMs = startOfUtcDay(untilMs)
  if (firstMs >= lastMs) return { days: undefined, edges: [{ fromMs, untilMs }] }
  return {
    days: { fromMs: firstMs, untilMs: lastMs },
    edges: [
      { fromMs, untilMs: firstMs },
      { fromMs: lastMs, untilMs },
    ].filter((edge) => edge.fromMs < edge.untilMs),
  }
}

/** @returns the moment as it leaves us: RFC 3339, UTC, milliseconds */
export function toInstantText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

function startOfUtcDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs) * dayMs
}

function startOf(param: 'from' | 'to', text: string): number {
  return readMoment(param, text).epochMs
}

function endOf(param: 'from' | 'to', text: string): number {
  const { epochMs, isDate } = readMoment(param, text)
  return isDate ? epochMs + dayMs : epochMs
}

/** @returns of a moment between two milliseconds the later one; of `updated_since` the earlier one, so that nothing is missed */
function readMoment(param: 'from' | 'to' | 'updated_since', text: string): { epochMs: number; isDate: boolean } {
  try {
    if (text.length === 10) {
      return { epochMs: Temporal.PlainDate.from(text).toZonedDateTime('UTC').epochMilliseconds, isDate: true }
    }
    const instant = text.replace(' ', '+').replace(secondDigits, '$1:00')
    const leapMs = leapSecond.test(instant) ? 1_000 : 0
    const { epochMilliseconds } = Temporal.Instant.from(instant).round({
      smallestUnit: 'millisecond',
      roundingMode: param === 'updated_since' ? 'floor' : 'ceil',
    })
    return { epochMs: epochMilliseconds + leapMs, isDate: false }
  } catch {
    throw new Problem(
      `invalid_${param}`,
      `${param} is not on the calendar; write 2026-11-01 or 2026-11-01T00:00:00Z.`,
      {
        param,
      },
    )
  }
}

function assertOrdered(fromMs: number, untilMs: number): void {
  if (fromMs >= untilMs) {
    throw new Problem(
      'invalid_date_range',
      `from (${toInstantText(fromMs)}) is not before the end of the range (${toInstantText(untilMs)}).`,
    )
  }
}
