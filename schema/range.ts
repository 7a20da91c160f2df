import { Type } from '@sinclair/typebox'
import { OneOf, optional } from './scalars.ts'

const date = '\\d{4}-\\d{2}-\\d{2}'
const time = '[Tt ]\\d{2}:\\d{2}(:\\d{2}([.,]\\d{1,9})?)?'
/** TRAP: a `+` that is not percent-encoded arrives as a space. No valid value has a space there, so it is read as `+`. */
const offset = ' ?([Zz]|UTC|GMT|[+ -]\\d{2}(:?\\d{2})?)'

/** A date (`2026-11-01`) or an instant with offset, also as databases write it (`2026-11-01 14:00:00+01`, `2026-11-01 14:00:00 UTC`). */
export const instantPattern = `^${date}(${time}${offset})?$`

/** A date, an instant with offset, or a local time without (`2026-11-01T14:00`, `2026-11-01 14:00:00`). */
export const momentPattern = `^${date}(${time}(${offset})?)?$`

/** A date (`2026-11-01`). */
export const datePattern = `^${date}$`

/** @param zone the time zone of dates and of times without offset */
const fromAndTo = (zone: string) =>
  optional({
    from: Type.String({
      pattern: momentPattern,
      description: `Start of the range, inclusive: a date or a local time (\`2026-11-20T14:00\`) ${zone}, or an instant with offset.`,
    }),
    to: Type.String({
      pattern: momentPattern,
      description: `End of the range: a date (the whole day is included) or a local time (exclusive) ${zone}, or an instant (exclusive).`,
    }),
  })

/** Range of searches; both ends are optional. */
export const rangeParameters = fromAndTo('in UTC')

/** Range of reports, stats, funnels and lists, which have a time zone. */
export const localRangeParameters = fromAndTo('in `tz`')

const timeZone = (description: string, standard?: { default: string }) =>
  Type.String({ minLength: 1, maxLength: 64, ...standard, description })

/** Number of days of reports, stats and funnels unless a request has `days` or `from`. */
export const daysDefault = 30

const calendarUnits = ['week', 'month', 'quarter', 'year'] as const

/** Calendar ranges that follow the present. */
export const rangeNames = [
  'today',
  'yesterday',
  ...calendarUnits.flatMap((unit) => [`this_${unit}`, `last_${unit}`] as const),
] as const
export type RangeName = (typeof rangeNames)[number]

const rangeParameter = OneOf(rangeNames, {
  description:
    'A calendar range in `tz`, instead of `days`, `from` and `to`. Weeks begin on Monday; `this_…` ends with today. With it, `compare=previous_period` compares with the day, week, month, quarter or year before.',
})

export const daysParameter = (maximum: number) =>
  optional({
    days: Type.Integer({
      minimum: 1,
      maximum,
      description: `Number of days in \`tz\` up to and including today; default ${daysDefault}. Ignored if \`from\` is present.`,
    }),
    range: rangeParameter,
  })

/** Range of lists, which have no default. */
export const listRangeParameters = {
  ...localRangeParameters,
  ...optional({
    days: Type.Integer({
      minimum: 1,
      maximum: 365,
      description:
        'Number of days in `tz` up to and including today, instead of a range; the same days on all pages. Ignored if `from` is present.',
    }),
    range: rangeParameter,
    tz: timeZone('IANA time zone of `days` and `range`, and of dates and local times in `from` and `to`; default UTC.'),
  }),
}

/** Order of lists, for clients that copy them: by event time, or by `storedAt`. */
export const orderParameters = optional({
  order: OneOf(['asc', 'desc'], {
    description:
      '`desc` (default): newest first; `asc`: oldest first. With `updated_since` or `updated_after` the order is always `asc`.',
  }),
  updated_since: Type.String({
    pattern: instantPattern,
    description:
      'Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run.',
  }),
  updated_after: Type.String({
    pattern: instantPattern,
    description:
      'Like `updated_since`, without rows stored exactly at this time. For incremental sync by rows alone: read all pages with `updated_since=1970-01-01`, then pass the largest `storedAt` of all completed runs.',
  }),
})

/** Time zone of stats and funnels. */
export const timeZoneParameter = optional({
  tz: timeZone('IANA time zone of days and other units of time.', { default: 'UTC' }),
})

/** Time zone of reports; without a default, since a response has `tz` only if the request has it. */
export const optionalTimeZoneParameter = optional({
  tz: timeZone(
    'IANA time zone of `days` and `range`, of dates in `from` and `to`, and of dimensions of time; default UTC.',
  ),
})
