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

/** Counts the values of an import that change. */
export class AlteredValues {
  readonly #counted = new Map<string, AlteredValue>()

  /** Counts the values of a row. */
  count(line: number, ofRow: readonly Alteration[]): void {
    for (const { field, message, value } of ofRow) {
      const key = `${field} ${message}`
      const counted = this.#counted.get(key)
      if (counted) counted.values += 1
      else {
        const example = printable(textOf(value) ?? '', shownCharacters)
        this.#counted.set(key, { field, message, values: 1, line, example })
      }
    }
  }

  list(): AlteredValue[] {
    return [...this.#counted.values()]
  }

  /** @returns two lines for each field: values and what is stored; then the first value. Empty without changes */
  summary(): string[] {
    const lines = this.list().flatMap(({ field, message, values, line, example }) =>
      countedLines(values, `${field}: ${message}`, line, example),
    )
    return lines.length === 0 ? [] : ['Values that changed:', ...lines]
  }
}
