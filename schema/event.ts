import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { EventNote } from './eventNote.ts'
import { described, eventIdPattern, Id, Instant, Named, Nullable, NullableText, OneOf, optional } from './scalars.ts'

export const eventOrigins = ['server', 'browser'] as const

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

/** The text of a property as it is stored. PostgreSQL cannot store U+0000, and UTF-8 cannot represent unpaired surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

const dayMs = 86_400_000

/** Timestamps are clamped to this range around the time of the request. */
export const eventAgeMaxMs = 30 * dayMs
export const eventAheadMaxMs = 5 * 60_000

/** An `event_id` is a duplicate for this long after its first acceptance. */
export const duplicateWindowMs = dayMs

/** Fair-use ceiling: server events per month as a multiple of the plan's monthly click allowance. */
export const fairUseFactor = 20

/** Fields that a customer defines; without a value they are null. */
const Properties = (description: string, examples?: object[]) =>
  Type.Unsafe<Record<string, string | number | boolean> | null>({
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description,
    ...(examples && { examples }),
  })

/** Unknown fields are ignored; `null` is equivalent to an absent field. */
export const EventBody = Type.Object(
  {
    ...optional({
      click_id: Nullable(described(Id, 'Click that the event belongs to; use it for paid traffic.')),
      visitor_id: Nullable(
        described(Id, 'Visitor id of the pixel, for organic or direct traffic; requires `campaign_id`.'),
      ),
      campaign_id: Nullable(described(Id, 'Campaign of `visitor_id`; ignored if `click_id` is present.')),
    }),
    event_name: Type.String({
      pattern: eventNamePattern,
      description: 'Name of the event.',
      examples: ['trial_converted'],
    }),
    ...optional({
      value: Nullable(
        Type.Number({ description: 'Number that you define, not revenue; clamped to ±1e12.', examples: [49.9] }),
      ),
      currency: NullableText({
        description: 'ISO 4217 code in uppercase; any other text is ignored.',
        examples: ['USD'],
      }),
      properties: Properties(
        `Up to ${propertyLimits.keysMax} fields that you define: text of up to ${propertyLimits.textLengthMax} characters, finite numbers, booleans. Fields above a limit or of another type are dropped; above ${propertyLimits.bytesMax / 1024} KiB the whole object is dropped.`,
        [{ plan: 'yearly', seats: 3 }],
      ),
      event_id: NullableText({
        pattern: eventIdPattern,
        description:
          'Your id of this event. Requests with the same id within 24 hours have no further effect, so a request without a response can be retried safely.',
        examples: ['order-1042-paid'],
      }),
      timestamp: NullableText({
        description:
          'Time of the event, ISO 8601 or as databases and logs write it; default: the time of the request. Clamped to the last 30 days and the next 5 minutes.',
        examples: ['2026-11-21T03:00:00Z'],
      }),
    }),
  },
  { $id: 'EventInput', description: 'Identify the event by `click_id`, or by `visitor_id` and `campaign_id`.' },
)

/** The first stored fields of an event; the rows of lists have the name of the campaign next. */
const eventIdentity = {
  id: Type.String({ pattern: eventIdPattern, description: '`event_id`, or a generated UUIDv7.' }),
  origin: OneOf(eventOrigins, {
    description: '`server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.',
  }),
  generation: Type.Integer({
    description: 'How many times this `event_id` was accepted before, each time more than 24 hours after the last.',
  }),
  eventName: Type.String({ description: 'Name of the event.' }),
  clickId: Nullable(Id),
  visitorId: Nullable(Id),
  campaignId: Nullable(described(Id, 'Campaign of the click, or the named campaign.')),
}
const eventDetails = {
  userId: Nullable(described(Id, 'Owner of the campaign.')),
  value: Nullable(Type.Number({ description: 'Number that you define, not revenue.' })),
  currency: NullableText('ISO 4217.'),
  properties: Properties('Fields that you define.'),
  occurredAt: described(Instant, 'Time of the event, clamped.'),
  receivedAt: described(Instant, 'When the event was accepted.'),
}

/** The stored fields of an event. */
const storedEventFields = { ...eventIdentity, ...eventDetails }

/** An event as lists return it. */
export const EventRow = Named('StoredEvent', {
  ...eventIdentity,
  campaignName: NullableText('Current name of the campaign; null for an unknown id.'),
  ...eventDetails,
  storedAt: described(Instant, 'When Tributary stored the event.'),
})
export type EventRow = Static<typeof EventRow>

/** An event as a dry run would store it. */
const PreviewedEvent = Type.Unsafe<(Omit<StoredEventFields, 'id'> & { id: string | null }) | null>({
  type: ['object', 'null'],
  properties: { ...storedEventFields, id: Nullable(storedEventFields.id) },
  required: Object.keys(storedEventFields),
  additionalProperties: false,
  $id: 'Event',
  description:
    'With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling.',
})
export type StoredEventFields = Static<TObject<typeof storedEventFields>>

const dryRunFields = optional({
  event: PreviewedEvent,
  notes: Type.Array(EventNote, {
    description:
      'Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes.',
  }),
})

/** Responses to a valid event with a click or campaign of the caller. @param fields further fields of each response */
export function eventResponses<Fields extends TProperties>(fields: Fields) {
  const response = <Outcome extends TProperties>(description: string, outcome: Outcome) =>
    Type.Object(
      { ...fields, accepted: Type.Literal(true), ...outcome, ...dryRunFields },
      { additionalProperties: false, description },
    )
  return [
    response('The event is stored.', {}),
    response('Duplicate: an event with this `event_id` was stored less than 24 hours ago.', {
      deduplicated: Type.Literal(true),
    }),
    response(
      `Not stored: the account reached its fair-use ceiling of ${fairUseFactor} times its monthly click allowance.`,
      { recorded: Type.Literal(false), reason: Type.Literal('fair_use_ceiling') },
    ),
  ] as const
}
export const EventResponse = Type.Union([...eventResponses({})])
export type EventResponse = Static<typeof EventResponse>

/** Parameters of `POST /events` and `POST /events/batch`. */
export const EventQuery = Type.Object(
  optional({
    dry_run: Type.Boolean({
      description:
        '`true`: validates and decides as usual, stores nothing, and returns the event and notes. Counts against the rate limits.',
    }),
  }),
)
