import type { intervals } from '../../schema/stats.ts'
import { dayMs, hourMs } from '../stores/timing/units.ts'
import type { Range } from './timeRange.ts'
import { localInstantsOf, localTimesOf, offsetsOf } from './timeZone.ts'

/** Units of time that follow each other, in a time zone. */
export type Interval = (typeof intervals)[number]

/** One unit of time; the first and the last one of a range may extend beyond it. */
export interface CalendarBucket extends Range {
  /** As in reports: `2026-10-25T02:00+02:00`, `2026-10-25`, the Monday of a week, `2026-10`. */
  id: string
  date: string
}

/**
 * Computes the hours, days, weeks or months of a time zone that a range touches, from calendar dates.
 * @returns in order, each starting where the previous one ends. Days have 23, 24 or 25 hours where clocks change; a date
 *   that the zone skipped (Pacific/Apia, 2011-12-30) is not included; an hour that a clock repeats is two hours
 */
export function calendarOf(interval: Interval, range: Range, zone: string): CalendarBucket[] {
  return interval === 'hour' ? hoursOf(range, zone) : datesOf(interval, range, zone)
}

function datesOf(interval: Exclude<Interval, 'hour'>, range: Range, zone: string): CalendarBucket[] {
  const buckets: CalendarBucket[] = []
  // The first and the last month may extend beyond the range by 31 days.
  const covered = { fromMs: range.fromMs - 32 * dayMs, untilMs: range.untilMs + 32 * dayMs }
  const startOf = localInstantsOf(zone, covered)
  let date = firstDate(interval, localTimesOf(zone, covered)(range.fromMs))
  let fromMs = startOf(date.getTime())
  while (fromMs < range.untilMs) {
    const next = new Date(date)
    if (interval === 'month') next.setUTCMonth(next.getUTCMonth() + 1)
    else next.setUTCDate(next.getUTCDate() + (interval === 'week' ? 7 : 1))
    const untilMs = startOf(next.getTime())
    const [text = ''] = date.toISOString().split('T')
    if (fromMs < untilMs)
      buckets.push({ id: interval === 'month' ? text.slice(0, 7) : text, date: text, fromMs, untilMs })
    date = next
    fromMs = untilMs
  }
  return buckets
}

/** @returns the first date of the interval, its midnight in UTC */
function firstDate(interval: Exclude<Interval, 'hour'>, localMs: number): Date {
  const date = new Date(localMs)
  date.setUTCHours(0, 0, 0, 0)
  if (interval === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  if (interval === 'month') date.setUTCDate(1)
  return date
}

function hoursOf(range: Range, zone: string): CalendarBucket[] {
  const buckets: CalendarBucket[] = []
  // One more hour at either end, since the first hour may start before the range and the last one end after it.
  const offsets = offsetsOf(zone, { fromMs: range.fromMs - hourMs, untilMs: range.untilMs + hourMs })
  for (const [index, { fromMs, offsetS, text }] of offsets.entries()) {
    const changeMs = offsets[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    const offsetMs = offsetS * 1000
    let hour = Math.floor((fromMs + offsetMs) / hourMs) * hourMs - offsetMs
    for (; hour < Math.min(changeMs, range.untilMs); hour += hourMs) {
      const startMs = index === 0 ? hour : Math.max(hour, fromMs)
      const endMs = Math.min(hour + hourMs, changeMs)
      if (startMs >= range.untilMs || endMs <= range.fromMs) continue
      const local = new Date(hour + offsetMs).toISOString()
      buckets.push({ id: `${local.slice(0, 13)}:00${text}`, date: local.slice(0, 10), fromMs: startMs, untilMs: endMs })
    }
  }
  return buckets
}
