import { type Static, Type } from '@sinclair/typebox'
import { OneOf } from './scalars.ts'

/** Maximum number of notes on an event; one more has the number of the others. */
export const notesMax = 20

/**
 * Notes on values that are not stored as they were sent: in a dry run, in the results of a batch, and as
 * codes in the header `X-Event-Notes`.
 */
export const eventNoteTexts = {
  field_ignored: 'The body has a field that does not exist.',
  property_dropped: 'A property is above a limit or has an unsupported type.',
  properties_dropped: '`properties` is not an object, or above its size limit.',
  characters_replaced: 'U+0000 or an unpaired surrogate is stored as U+FFFD.',
  digits_lost: 'A number has more digits than a double.',
  currency_ignored: '`currency` is not an uppercase ISO 4217 code.',
  value_clamped: '`value` is clamped to its range.',
  timestamp_clamped: '`timestamp` is clamped to its range.',
  duplicate_differs: '`event_id` was used for an event with another name, value or currency, which stays as it is.',
  notes_omitted: `The event has more than ${notesMax} notes; this one is the last, and \`message\` has the number of the others.`,
} as const
export type EventNoteCode = keyof typeof eventNoteTexts

/** Every code with its meaning, in Markdown. */
export const noteCodesText = Object.entries(eventNoteTexts)
  .map(([code, text]) => `\`${code}\`: ${text}`)
  .join(' ')

export const EventNote = Type.Object(
  {
    code: OneOf(Object.keys(eventNoteTexts) as EventNoteCode[], { description: noteCodesText }),
    field: Type.String({ description: 'Field of the body, for example `currency` or `properties.plan`.' }),
    message: Type.String({ description: 'Explanation for a person; the text may change.' }),
  },
  { $id: 'EventNote', additionalProperties: false },
)
export type EventNote = Static<typeof EventNote>
