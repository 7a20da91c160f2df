import { type Static, Type } from '@sinclair/typebox'
import { EventBody, eventResponses } from './event.ts'
import { Named, optional } from './scalars.ts'

/** Limits of `POST /events/batch`. */
export const batchLimits = {
  eventsMax: 1_000,
  bytesMax: 4 * 1024 * 1024,
  eventBytesMax: 64 * 1024,
  /** Commas, colons and brackets outside texts, in a body: twice as many as in 1,000 events with 20 properties each. */
  marksMax: 128_000,
  /** Nested levels of a body. */
  depthMax: 64,
} as const

export const EventBatchBody = Named('EventBatch', {
  events: Type.Array(EventBody, {
    minItems: 1,
    maxItems: batchLimits.eventsMax,
    description:
      'Each event as in `POST /events`; up to 64 KiB each. The body has at most 4 MiB, 128,000 commas, colons and brackets outside texts, and 64 nested levels.',
  }),
})

/** The same as NDJSON. */
export const EventLines = Type.String({
  description: `One event per line, as in \`POST /events\`; 1 to ${batchLimits.eventsMax} events, blank lines are skipped.`,
})

const index = Type.Integer({
  description: 'Position of the event in the batch, from 0. Blank NDJSON lines do not count.',
})
const count = (description: string) => Type.Integer({ description })

const RejectedEvent = Type.Object(
  {
    index,
    error: Type.String({ description: 'Error code, as in `POST /events`.' }),
    message: Type.String({ description: 'Explanation for a person; the text may change.' }),
    ...optional({
      param: Type.String({ description: 'Field that caused the error.' }),
      retryAfter: Type.Integer({ description: 'Seconds to wait before the event is sent again, for `rate_limited`.' }),
    }),
  },
  { additionalProperties: false, description: 'The event is rejected; other events are not affected.' },
)

export const EventBatchResponse = Type.Object(
  {
    stored: count('Number of stored events.'),
    deduplicated: count('Number of duplicates.'),
    overCeiling: count('Number of events above the fair-use ceiling, which are not stored.'),
    rejected: count('Number of rejected events.'),
    results: Type.Array(Type.Union([...eventResponses({ index }), RejectedEvent]), {
      description: 'One result per event, in their order.',
    }),
  },
  { $id: 'EventBatchResult', additionalProperties: false },
)
export type EventBatchResponse = Static<typeof EventBatchResponse>
