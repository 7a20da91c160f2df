import { EventBody } from '../../../schema/event.ts'
import type { EventNote, EventNoteCode } from '../../../schema/eventNote.ts'

/** Receives a note on a value that is stored differently from the way it was sent. */
export type Note = (code: EventNoteCode, field: string, message: string) => void

/** Discards notes: only dry runs return them. */
export const noNotes: Note = () => {}

/** Maximum length of a field name in a note; names come from the caller. */
const fieldLengthMax = 128

/** @returns a list of notes and the function that adds to it */
export function collectNotes(): { notes: EventNote[]; note: Note } {
  const notes: EventNote[] = []
  return {
    notes,
    note: (code, field, message) => {
      notes.push({ code, field: field.slice(0, fieldLengthMax).toWellFormed(), message })
    },
  }
}

const fieldNames = Object.keys(EventBody.properties)

/** Notes the fields of a body that do not exist. */
export function noteUnknownFields(body: object, note: Note): void {
  for (const field of Object.keys(body)) {
    if (!fieldNames.includes(field)) {
      note('field_ignored', field, `No such field; the fields are ${fieldNames.join(', ')}.`)
    }
  }
}
