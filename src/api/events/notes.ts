import { EventBody } from '../../../schema/event.ts'
import { type EventNote, type EventNoteCode, notesMax } from '../../../schema/eventNote.ts'

/** Receives a note on a value that is stored differently from the way it was sent. */
export type Note = (code: EventNoteCode, field: string, message: string) => void

/** Discards notes: only dry runs return them. */
export const noNotes: Note = () => {}

/** Maximum length of a field name in a note; names come from the caller. */
const fieldLengthMax = 128

/** @returns a list of at most 20 notes and one on the number of the others, and the function that adds to it */
export function collectNotes(): { notes: EventNote[]; note: Note } {
  const notes: EventNote[] = []
  let count = 0
  return {
    notes,
    note: (code, field, message) => {
      count += 1
      const shownField = field.slice(0, fieldLengthMax).toWellFormed()
      if (count <= notesMax) notes.push({ code, field: shownField, message })
      else if (count === notesMax + 1) notes.push({ code: 'notes_omitted', field: shownField, message: '' })
      const omitted = notes[notesMax]
      if (omitted) omitted.message = `${count - notesMax} notes are omitted; this field is the first of them.`
    },
  }
}

const fieldNames = Object.keys(EventBody.properties)
const unknownField = `No such field; the fields are ${fieldNames.join(', ')}.`

/** Notes the fields of a body that do not exist. */
export function noteUnknownFields(body: object, note: Note): void {
  for (const field of Object.keys(body)) {
    if (!fieldNames.includes(field)) note('field_ignored', field, unknownField)
  }
}
