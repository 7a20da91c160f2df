import { Type } from '@sinclair/typebox'
import { OneOf } from './scalars.ts'

/**
 * A date (`2026-11-01`) or an instant with offset.
 * TRAP: a `+` that is not percent-encoded arrives as a space. No valid value has a space there, so it is read as `+`.
 */
export const momentPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}(:\\d{2}([.]\\d{1,9})?)?([Zz]|[+ -]\\d{2}:\\d{2}))?$'

/** A date (`2026-11-01`). */
export const datePattern = '^\\d{4}-\\d{2}-\\d{2}$'

/** @param zone the time zone of dates */
const fromAndTo = (zone: string) => ({
  from: Type.Optional(
    Type.String({
      pattern: momentPattern,
      description: `Start of the range, inclusive: a date (00:00 ${zone}) or an RFC 3339 instant with offset.`,
      examples: ['2026-11-01'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      pattern: momentPattern,
      description: `End of the range: a date (the whole day is included, ${zone}) or an RFC 3339 instant (exclusive).`,
      examples: ['2026-11-21'],
    }),
  ),
})

/** Range of lists and searches; both ends are optional. */
export const rangeParameters = fromAndTo('UTC')

/** Range of reports and stats, which have a time zone. */
export const localRangeParameters = fromAndTo('in `tz`')

/** Order of lists, for clients that copy them: by event time, or by `storedAt`. */
export const orderParameters = {
  order: Type.Optional(
    OneOf(['asc', 'desc'], {
      description:
        '`desc` (default): newest first; `asc`: oldest first. With `updated_since` or `updated_after` the order is always `asc`.',
    }),
  ),
  updated_since: Type.Optional(
    Type.String({
      pattern: momentPattern,
      description:
        'Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run.',
      examples: ['2026-11-21T03:00:00.000Z'],
    }),
  ),
  updated_after: Type.Optional(
    Type.String({
      pattern: momentPattern,
      description:
        'Like `updated_since`, without rows stored exactly at this time. For incremental sync by rows alone: read all pages with `updated_since=1970-01-01`, then pass the largest `storedAt` of all completed runs.',
      examples: ['2026-11-21T03:00:00.000Z'],
    }),
  ),
}

const timeZone = { minLength: 1, maxLength: 64, examples: ['Asia/Kolkata'] }

/** Time zone of stats. */
export const timeZoneParameter = {
  tz: Type.Optional(
    Type.String({ ...timeZone, default: 'UTC', description: 'IANA time zone of days and other units of time.' }),
  ),
}

/** Time zone of reports; without a default, since a response has `tz` only if the request has it. */
export const optionalTimeZoneParameter = {
  tz: Type.Optional(
    Type.String({
      ...timeZone,
      description: 'IANA time zone of `days`, of dates in `from` and `to`, and of dimensions of time; default UTC.',
    }),
  ),
}
