import { EventBody } from '../../schema/event.ts'
import { type EventNote, type EventNoteCode, notesMax } from '../../schema/eventNote.ts'

/** Receives a note on a value that is not stored as it was sent. */
export type Note = (code: EventNoteCode, field: string, message: string) => void

/** Maximum length of a field name in a note; names come from the caller. */
const fieldLengthMax = 128

/** Collects the notes on one event: at most 20, and one on the number of the others. */
export function collectNotes(): { notes: readonly EventNote[]; note: Note } {
  const notes: EventNote[] = []
  let count = 0
  const note: Note = (code, field, message) => {
    count += 1
    const omitted = count - notesMax
    if (omitted <= 0) notes.push({ code, field: shortened(field), message })
    else if (omitted === 1) notes.push({ code: 'notes_omitted', field: shortened(field), message: '' })
    const last = notes[notesMax]
    if (last) last.message = `${omitted} notes are omitted; this field is the first of them.`
  }
  return { notes, note }
}

/** TRAP: a slice of a string keeps the whole string in memory while the event waits; the bytes are a copy. */
function shortened(field: string): string {
  if (field.length <= fieldLengthMax) return field.toWellFormed()
  return Buffer.from(field.slice(0, fieldLengthMax)).toString()
}

const fieldNames: ReadonlySet<string> = new Set(Object.keys(EventBody.properties))
const unknownField = `No such field; the fields are ${[...fieldNames].join(', ')}.`

/** Notes the fields of a body that do not exist. */
export function noteUnknownFields(body: object, note: Note): void {
  // Object.keys would allocate an array for every event.
  for (const field in body) if (!fieldNames.has(field)) note('field_ignored', field, unknownField)
}

/** @returns the codes of notes for a header, each once, in the order of the notes */
export function noteCodes(notes: readonly EventNote[]): string {
  return [...new Set(notes.map(({ code }) => code))].join(', ')
}
