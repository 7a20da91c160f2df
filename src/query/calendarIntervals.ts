import type { Temporal } from 'temporal-polyfill'
import type { intervals } from '../../schema/stats.ts'
import type { Range } from './timeRange.ts'
import { atInstant, offsetsOf, startOfDate } from './timeZone.ts'

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
  let date = firstDate(interval, atInstant(range.fromMs, zone).toPlainDate())
  let fromMs = startOfDate(date, zone)
  while (fromMs < range.untilMs) {
    const next = date.add({ [`${interval}s`]: 1 })
    const untilMs = startOfDate(next, zone)
    const text = date.toString()
    if (fromMs < untilMs)
      buckets.push({ id: interval === 'month' ? text.slice(0, 7) : text, date: text, fromMs, untilMs })
    date = next
    fromMs = untilMs
  }
  return buckets
}

function firstDate(interval: Exclude<Interval, 'hour'>, date: Temporal.PlainDate): Temporal.PlainDate {
  if (interval === 'day') return date
  return interval === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })
}

const hourMs = 3_600_000

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
      const id = `${local.slice(0, 13)}:00${text}`
      buckets.push({ id, date: local.slice(0, 10), fromMs: startMs, untilMs: endMs })
    }
  }
  return buckets
}
