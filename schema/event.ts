import { type Static, Type } from '@sinclair/typebox'
import { eventIdPattern, Id, Nullable } from './scalars.ts'

export const eventNamePattern = '^[a-zA-Z][a-zA-Z0-9_]{0,63}$'

/** `value` is clamped to ±this. */
export const eventValueMax = 1e12

/** Limits of `properties`; anything above them is dropped without an error. */
export const propertyLimits = {
  keysMax: 20,
  keyLengthMax: 64,
  textLengthMax: 256,
  /** Size of the whole object as JSON in UTF-8. */
  bytesMax: 8 * 1024,
} as const

const dayMs = 86_400_000

/** Timestamps are clamped to this range around the time of the request. */
export const eventAgeMaxMs = 30 * dayMs
export const eventAheadMaxMs = 5 * 60_000

/** An `event_id` is a duplicate for this long after its first acceptance. */
export const duplicateWindowMs = dayMs

/** Fair-use ceiling: server events per month as a multiple of the plan's monthly click allowance. */
export const fairUseFactor = 20

/** Unknown fields are ignored; `null` is equivalent to an absent field. */
export const EventBody = Type.Object(
  {
    click_id: Type.Optional(
      Nullable(Type.String({ ...Id, description: 'Click that the event belongs to; use it for paid traffic.' })),
    ),
    visitor_id: Type.Optional(
      Nullable(
        Type.String({
          ...Id,
          description: 'Visitor id of the pixel, for organic or direct traffic; requires `campaign_id`.',
        }),
      ),
    ),
    campaign_id: Type.Optional(
      Nullable(Type.String({ ...Id, description: 'Campaign of `visitor_id`; ignored if `click_id` is present.' })),
    ),
    event_name: Type.String({
      pattern: eventNamePattern,
      description: 'Name of the event.',
      examples: ['trial_converted'],
    }),
    value: Type.Optional(
      Nullable(
        Type.Number({ description: 'Number that you define, not revenue; clamped to ±1e12.', examples: [49.9] }),
      ),
    ),
    currency: Type.Optional(
      Nullable(
        Type.String({ description: 'ISO 4217 code in uppercase; any other text is ignored.', examples: ['USD'] }),
      ),
    ),
    properties: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean> | null>({
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'number', 'boolean'] },
        description: `Up to ${propertyLimits.keysMax} fields that you define: text of up to ${propertyLimits.textLengthMax} characters, finite numbers, booleans. Fields above a limit or of another type are dropped; above ${propertyLimits.bytesMax / 1024} KiB the whole object is dropped.`,
        examples: [{ plan: 'yearly', seats: 3 }],
      }),
    ),
    event_id: Type.Optional(
      Nullable(
        Type.String({
          pattern: eventIdPattern,
          description:
            'Your id of this event. Requests with the same id within 24 hours have no further effect, so a request without a response can be retried safely.',
          examples: ['order-1042-paid'],
        }),
      ),
    ),
    timestamp: Type.Optional(
      Nullable(
        Type.String({
          description:
            'Time of the event, ISO 8601; default: the time of the request. Clamped to the last 30 days and the next 5 minutes.',
          examples: ['2026-11-21T03:00:00Z'],
        }),
      ),
    ),
  },
  { $id: 'Event', description: 'Identify the event by `click_id`, or by `visitor_id` and `campaign_id`.' },
)
export type EventBody = Static<typeof EventBody>

/** Responses to a valid event whose click or campaign belongs to the caller. */
export const EventResponse = Type.Union([
  Type.Object({ accepted: Type.Literal(true) }, { additionalProperties: false, description: 'The event is stored.' }),
  Type.Object(
    { accepted: Type.Literal(true), deduplicated: Type.Literal(true) },
    {
      additionalProperties: false,
      description: 'Duplicate: an event with this `event_id` was stored less than 24 hours ago.',
    },
  ),
  Type.Object(
    { accepted: Type.Literal(true), recorded: Type.Literal(false), reason: Type.Literal('fair_use_ceiling') },
    {
      additionalProperties: false,
      description: `Not stored: the account reached its fair-use ceiling of ${fairUseFactor} times its monthly click allowance.`,
    },
  ),
])
export type EventResponse = Static<typeof EventResponse>
