import { type Static, Type } from '@sinclair/typebox'
import { eventIdPattern, Id, Nullable } from './scalars.ts'

export const eventNamePattern = '^[a-zA-Z][a-zA-Z0-9_]{0,63}$'

/** A value beyond this, either way, is stored as this. */
export const eventValueMax = 1e12

/** What is kept of `properties`; the rest is dropped without a word. */
export const propertyLimits = {
  keysMax: 20,
  keyLengthMax: 64,
  textLengthMax: 256,
  /** Of the whole object as JSON in UTF-8. */
  bytesMax: 8 * 1024,
} as const

const dayMs = 86_400_000

/** A timestamp further from now than this is stored as the end of the range. */
export const eventAgeMaxMs = 30 * dayMs
export const eventAheadMaxMs = 5 * 60_000

/** For so long after its first acceptance an `event_id` is a duplicate. */
export const duplicateWindowMs = dayMs

/** Server events a month, in tracked clicks that the plan allows a month. */
export const fairUseFactor = 20

/** Other fields are ignored; `null` is the same as leaving a field out. */
export const EventBody = Type.Object(
  {
    click_id: Type.Optional(
      Nullable(Type.String({ ...Id, description: 'The click that the event belongs to: for paid traffic.' })),
    ),
    visitor_id: Type.Optional(
      Nullable(
        Type.String({
          ...Id,
          description: 'The visitor of the pixel, for organic or direct traffic; needs `campaign_id`.',
        }),
      ),
    ),
    campaign_id: Type.Optional(
      Nullable(Type.String({ ...Id, description: 'The campaign of `visitor_id`; ignored beside `click_id`.' })),
    ),
    event_name: Type.String({
      pattern: eventNamePattern,
      description: 'What happened.',
      examples: ['trial_converted'],
    }),
    value: Type.Optional(
      Nullable(Type.Number({ description: 'A signal of your own, not revenue; clamped to ±1e12.', examples: [49.9] })),
    ),
    currency: Type.Optional(
      Nullable(Type.String({ description: 'ISO 4217, uppercase; ignored when it is not.', examples: ['USD'] })),
    ),
    properties: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean> | null>({
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'number', 'boolean'] },
        description: `Up to ${propertyLimits.keysMax} fields of your own: text up to ${propertyLimits.textLengthMax} characters, finite numbers, booleans. What is over a limit, or of another type, is dropped; the whole object above ${propertyLimits.bytesMax / 1024} KiB.`,
        examples: [{ plan: 'yearly', seats: 3 }],
      }),
    ),
    event_id: Type.Optional(
      Nullable(
        Type.String({
          pattern: eventIdPattern,
          description:
            'Your id of this event. Sent again within 24 hours it changes nothing, so a call without an answer can be repeated.',
          examples: ['order-1042-paid'],
        }),
      ),
    ),
    timestamp: Type.Optional(
      Nullable(
        Type.String({
          description:
            'When it happened, ISO 8601; now when left out. Clamped to the last 30 days and the next 5 minutes.',
          examples: ['2026-11-21T03:00:00Z'],
        }),
      ),
    ),
  },
  { $id: 'Event', description: 'Either `click_id`, or `visitor_id` and `campaign_id`, say whose event it is.' },
)
export type EventBody = Static<typeof EventBody>

/** The three answers to an event that is well-formed and the caller's own. */
export const EventResponse = Type.Union([
  Type.Object({ accepted: Type.Literal(true) }, { additionalProperties: false, description: 'Stored.' }),
  Type.Object(
    { accepted: Type.Literal(true), deduplicated: Type.Literal(true) },
    { additionalProperties: false, description: 'Stored before, less than 24 hours ago.' },
  ),
  Type.Object(
    { accepted: Type.Literal(true), recorded: Type.Literal(false), reason: Type.Literal('fair_use_ceiling') },
    {
      additionalProperties: false,
      description: `Not stored: the account has ${fairUseFactor} times as many events this month as its plan allows clicks.`,
    },
  ),
])
export type EventResponse = Static<typeof EventResponse>
