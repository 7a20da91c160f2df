import { Type } from '@sinclair/typebox'

/**
 * A date (`2026-11-01`) or an instant with offset. A `+` that was not percent-encoded arrives as a space; since no
 * valid value holds a space there, it is read as the `+` it was.
 */
export const momentPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}(:\\d{2}([.]\\d{1,9})?)?([Zz]|[+ -]\\d{2}:\\d{2}))?$'

const From = Type.String({
  pattern: momentPattern,
  description: 'First moment of the range: a date (00:00 UTC) or an RFC 3339 instant with offset.',
  examples: ['2026-11-01'],
})
const To = Type.String({
  pattern: momentPattern,
  description: 'End of the range: a date (that whole day included, UTC) or an RFC 3339 instant (not included).',
  examples: ['2026-11-21'],
})

/** The range of lists and searches: either end may be left out. */
export const rangeParameters = { from: Type.Optional(From), to: Type.Optional(To) }

/** How lists are walked by whoever copies them: oldest first, or by the moment that our store took each row. */
export const orderParameters = {
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: '`desc`, newest first, unless given; `asc` is oldest first. With `updated_since` always `asc`.',
    }),
  ),
  updated_since: Type.Optional(
    Type.String({
      pattern: momentPattern,
      description:
        'Only rows that our store took, or took a new version of, from this moment on: by `storedAt`, oldest first. Pass the `asOf` of the last page of one walk as the `updated_since` of the next.',
      examples: ['2026-11-21T03:00:00.000Z'],
    }),
  ),
}
