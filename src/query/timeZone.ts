import { Temporal } from 'temporal-polyfill'
import { invalidParameter } from '../problem.ts'

/** A UTC offset of a time zone from an instant on. */
export interface OffsetChange {
  /** Epoch milliseconds; the first one is the start of the range, even if the offset is older. */
  fromMs: number
  offsetS: number
  /** As in RFC 3339: `+05:45`. */
  text: string
}

/**
 * Finds the IANA name of a time zone.
 * @param tz an IANA name, in any case
 * @returns the name in IANA's spelling
 * @throws Problem `invalid_tz`
 */
export function parseTimeZone(tz: string): string {
  // TRAP: a `+` that is not percent-encoded arrives as a space (`Etc/GMT+5`); no zone name contains one.
  const name = tz.replace(' ', '+')
  try {
    // Offsets such as +05:30 are not names, although the library accepts them.
    if (/^[A-Za-z]/.test(name)) return atInstant(0, name).timeZoneId
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw invalidParameter('tz', 'is not an IANA time zone; use a name such as Europe/Berlin.')
}

/** @returns the UTC offsets of a zone from one instant to before another, in order; at least one, also of an empty range */
export function offsetsOf(zone: string, { fromMs, untilMs }: { fromMs: number; untilMs: number }): OffsetChange[] {
  const changes: OffsetChange[] = []
  let at: Temporal.ZonedDateTime | null = atInstant(fromMs, zone)
  do {
    changes.push({ fromMs: at.epochMilliseconds, offsetS: at.offsetNanoseconds / 1e9, text: at.offset })
    at = at.getTimeZoneTransition('next')
  } while (at && at.epochMilliseconds < untilMs)
  return changes
}

/** @returns the local date and time of an instant */
export function atInstant(epochMs: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone)
}

/** @returns the first instant of a date, epoch milliseconds; of a date that the zone skipped, the first one after it */
export function startOfDate(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds
}

/** @returns the instant of a local time: the earlier one of a repeated time; the moment of the clock change for a skipped time */
export function localInstant(local: Temporal.PlainDateTime, zone: string): Temporal.Instant {
  const earlier = local.toZonedDateTime(zone, { disambiguation: 'earlier' })
  const isSkipped = !earlier.toPlainDateTime().equals(local)
  return ((isSkipped && earlier.getTimeZoneTransition('next')) || earlier).toInstant()
}

/**
 * Local times of many instants, which Temporal would compute slowly.
 * @param range of the instants, epoch milliseconds
 * @returns a function from an instant, epoch milliseconds, to its local time, given as the epoch milliseconds that it has in UTC
 */
export function localTimesOf(zone: string, range: { fromMs: number; untilMs: number }): (epochMs: number) => number {
  const changes = offsetsOf(zone, range)
  return (epochMs) => {
    const change = changes.findLast(({ fromMs }, index) => index === 0 || fromMs <= epochMs) as OffsetChange
    return epochMs + change.offsetS * 1000
  }
}

/**
 * `localInstant` for many times, which Temporal would compute slowly.
 * @param range of the instants, epoch milliseconds
 * @returns a function from a local time, given as the epoch milliseconds that it has in UTC, to its instant, epoch milliseconds
 */
export function localInstantsOf(zone: string, range: { fromMs: number; untilMs: number }): (localMs: number) => number {
  const changes = offsetsOf(zone, range)
  const spans = changes.map(({ fromMs, offsetS }, index) => ({
    fromMs: index === 0 ? Number.NEGATIVE_INFINITY : fromMs,
    offsetMs: offsetS * 1000,
    localUntilMs: (changes[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) + offsetS * 1000,
  }))
  return (localMs) => {
    const span = spans.find(({ localUntilMs }) => localMs < localUntilMs)
    return span ? Math.max(span.fromMs, localMs - span.offsetMs) : Number.NaN
  }
}
