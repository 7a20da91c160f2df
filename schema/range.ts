import { Type } from '@sinclair/typebox'

/**
 * A date (`2026-11-01`) or an instant with offset.
 * TRAP: a `+` that is not percent-encoded arrives as a space. No valid value has a space there, so it is read as `+`.
 */
export const momentPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}(:\\d{2}([.]\\d{1,9})?)?([Zz]|[+ -]\\d{2}:\\d{2}))?$'

const From = Type.String({
  pattern: momentPattern,
  description: 'Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset.',
  examples: ['2026-11-01'],
})
const To = Type.String({
  pattern: momentPattern,
  description: 'End of the range: a date (the whole UTC day is included) or an RFC 3339 instant (exclusive).',
  examples: ['2026-11-21'],
})

/** Range of lists and searches; both ends are optional. */
export const rangeParameters = { from: Type.Optional(From), to: Type.Optional(To) }

/** Order of lists, for clients that copy them: by event time, or by `storedAt`. */
export const orderParameters = {
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description:
        '`desc` (default): newest first; `asc`: oldest first. With `updated_since` the order is always `asc`.',
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
}
