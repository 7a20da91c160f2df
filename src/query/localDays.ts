import { Temporal } from 'temporal-polyfill'
import { Problem } from '../problem.ts'
import type { Range } from './timeRange.ts'

/** One day of a time zone; 23, 24 or 25 hours where clocks change, other lengths where a zone moved. */
export interface LocalDay extends Range {
  /** `2026-11-20` */
  date: string
}

/**
 * Finds the last `count` days of a time zone up to the day that `nowMs` lies in, from calendar dates.
 * @param tz an IANA name, in any case
 * @returns `count` days, oldest first, each beginning where the one before ends; and the name as IANA writes it.
 *   A date that the zone left out (Pacific/Apia, 2011-12-30) is no day.
 * @throws Problem `invalid_tz`
 */
export function lastLocalDays(tz: string, count: number, nowMs: number): { tz: string; days: LocalDay[] } {
  const now = midnightInZone(tz, nowMs)
  const zone = now.timeZoneId
  const today = now.toPlainDate()
  const days: LocalDay[] = []
  let untilMs = today.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds
  for (let date = today; days.length < count; date = date.subtract({ days: 1 })) {
    const fromMs = date.toZonedDateTime(zone).epochMilliseconds
    if (fromMs < untilMs) days.unshift({ date: date.toString(), fromMs, untilMs })
    untilMs = fromMs
  }
  return { tz: zone, days }
}

/** TRAP: a `+` that was not percent-encoded arrives as a space (`Etc/GMT+5`); no zone's name holds one. */
function midnightInZone(tz: string, epochMs: number): Temporal.ZonedDateTime {
  const name = tz.replace(' ', '+')
  try {
    // Offsets such as +05:30 are no names, whatever the library makes of them.
    if (/^[A-Za-z]/.test(name)) return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(name)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw new Problem('invalid_tz', 'tz is no IANA time zone; write a name like Europe/Berlin.', { param: 'tz' })
}
