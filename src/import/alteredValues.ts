import { textOf } from '../query/exactJson.ts'
import { printable, shownCharacters } from './readers/printable.ts'
import { countedLines } from './rejects.ts'

/** Values of a field that are stored with fewer digits or other characters than the file has. */
export interface AlteredValue {
  field: string
  /** What is stored instead. */
  message: string
  /** Number of such values. */
  values: number
  /** Line of the first one. */
  line: number
  /** The first one. */
  example: string
}

/** A value of a row that changes, and what is stored instead. */
export type Alteration = Pick<AlteredValue, 'field' | 'message'> & { value: unknown }

/** Counts the values of a row that change. @param counted receives fields and messages that are new */
export function countAltered(counted: AlteredValue[], line: number, ofRow: readonly Alteration[]): void {
  for (const { field, message, value } of ofRow) {
    const known = counted.find((one) => one.field === field && one.message === message)
    if (known) known.values += 1
    else counted.push({ field, message, values: 1, line, example: printable(textOf(value) ?? '', shownCharacters) })
  }
}

/** @returns two lines for each field: values and what is stored; then the first value. Empty without changes */
export function alteredLines(counted: readonly AlteredValue[]): string[] {
  const lines = counted.flatMap(({ field, message, values, line, example }) =>
    countedLines(values, `${field}: ${message}`, line, example),
  )
  return lines.length === 0 ? [] : ['Values that changed:', ...lines]
}
