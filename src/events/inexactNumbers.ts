import { losesDigits, parseExactly } from '../query/exactJson.ts'
import type { Note } from './notes.ts'

/** A number that a double may not represent: 16 digits or more, or an exponent. */
const longNumber = /:\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/
/** A text, or a number of 16 characters or with an exponent of three digits. A double keeps the digits of all other numbers. */
const textOrLongNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d(?:[\d.eE+-]{15,}|[\d.]{0,12}[eE][+-]?0{0,12}[1-9]\d{2,12})/g

/** Parses JSON; a number that has more digits than a double is a `DecimalText`. @param parse as JSON.parse */
export function parseEvents(json: string, parse: (json: string) => unknown): unknown {
  return longNumber.test(json) ? parseExactly(json, textOrLongNumber, losesDigits, parse) : parse(json)
}

/** Notes that a number is stored, and was sent with more digits. */
export function noteDigits(stored: unknown, field: string, note: Note): void {
  note('digits_lost', field, `The number is stored as ${stored}: it has more digits than a double.`)
}
