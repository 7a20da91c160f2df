import type { Temporal } from 'temporal-polyfill'
import type { RangeName } from '../../schema/range.ts'
import { atInstant, type offsetsOf, startOfDate } from './timeZone.ts'

/** Epoch milliseconds, `untilMs` exclusive. */
type Range = Parameters<typeof offsetsOf>[1]

const durations = {
  day: { days: 1 },
  week: { weeks: 1 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { years: 1 },
} as const
type Unit = keyof typeof durations

/** @returns the unit of a calendar range, and whether it is over */
function unitOf(name: RangeName): { unit: Unit; isOver: boolean } {
  const [which, unit = 'day'] = name.split('_') as [string, Unit | undefined]
  return { unit, isOver: which === 'yesterday' || which === 'last' }
}

/** @returns the dates of a unit that has ended, or of the present unit up to the end of today */
export function calendarRange(name: RangeName, zone: string, nowMs: number): Range {
  const { unit, isOver } = unitOf(name)
  const today = atInstant(nowMs, zone).toPlainDate()
  const start = startOfUnit(unit, today)
  const [from, until] = isOver ? [start.subtract(durations[unit]), start] : [start, today.add({ days: 1 })]
  return { fromMs: startOfDate(from, zone), untilMs: startOfDate(until, zone) }
}

/** @returns an instant at which a calendar range, or one of days, has this end, epoch milliseconds */
export function presentOf(name: RangeName | undefined, untilMs: number): number {
  return name !== undefined && unitOf(name).isOver ? untilMs : untilMs - 1
}

/**
 * Computes the unit before a calendar range.
 * @returns `range` ends at the same local time as the present, if the unit of the calendar range is not over; `whole` at the end of that
 *   day. A day that the unit before lacks is the end of its month
 */
export function unitBefore(name: RangeName, fromMs: number, zone: string, nowMs: number) {
  const { unit, isOver } = unitOf(name)
  const before = (date: Temporal.PlainDate) => date.subtract(durations[unit])
  const startMs = startOfDate(before(atInstant(fromMs, zone).toPlainDate()), zone)
  const until = (untilMs: number): Range => ({ fromMs: startMs, untilMs })
  if (isOver) return { range: until(fromMs), whole: until(fromMs) }
  const now = atInstant(nowMs, zone).toPlainDateTime()
  const day = before(now.toPlainDate())
  const whole = until(startOfDate(day.add({ days: 1 }), zone))
  const isLacking = !day.add(durations[unit]).equals(now.toPlainDate())
  if (isLacking) return { range: whole, whole }
  // A clock that is set forward can skip the last hour of the day.
  const presentMs = day.toPlainDateTime(now).toZonedDateTime(zone).epochMilliseconds
  return { range: until(Math.min(presentMs, whole.untilMs)), whole }
}

function startOfUnit(unit: Unit, date: Temporal.PlainDate): Temporal.PlainDate {
  if (unit === 'day') return date
  if (unit === 'week') return date.subtract({ days: date.dayOfWeek - 1 })
  if (unit === 'year') return date.with({ month: 1, day: 1 })
  const month = unit === 'month' ? date.month : date.month - ((date.month - 1) % 3)
  return date.with({ month, day: 1 })
}
