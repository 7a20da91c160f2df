import { randomBytes } from 'node:crypto'
import type { Note } from './notes.ts'

/** A number that a double may not represent: 16 digits or more, or an exponent. */
const longNumber = /:\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/
/** A text, or a number of 16 characters or with an exponent of three digits. A double keeps the digits of all other numbers. */
const textOrLongNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d(?:[\d.eE+-]{15,}|[\d.]{0,12}[eE][+-]?0{0,12}[1-9]\d{2,12})/g

/** Precedes the text of a marked number. It is random, and no valid text contains an unpaired surrogate: no body has it. */
const mark = `\ud800${randomBytes(6).toString('hex')}`
const markedJson = new RegExp(`"\\\\ud800${mark.slice(1)}([^"]*)"`, 'g')

/** Replaces each number that has more digits than a double by a text, which `readNumber` reads. @param json valid JSON */
export function markInexact(json: string): string {
  if (!longNumber.test(json)) return json
  return json.replace(textOrLongNumber, (token) => (isInexact(token) ? JSON.stringify(mark + token) : token))
}

/** Replaces the marked numbers in a JSON text by the nearest doubles. */
export function unmark(json: string): string {
  return json.replace(markedJson, (_, token) => `${Number(token)}`)
}

/** @returns a marked number as the nearest double, and any other value as it is */
export function readNumber(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(mark) ? Number(value.slice(mark.length)) : value
}

/** Notes that a number is stored, and was sent with more digits. */
export function noteDigits(stored: unknown, field: string, note: Note): void {
  note('digits_lost', field, `The number is stored as ${stored}: it has more digits than a double.`)
}

function isInexact(token: string): boolean {
  const number = Number(token)
  return Number.isFinite(number) && digitsOf(token) !== digitsOf(`${number}`)
}

/** The digits of a number without its exponent and the zeros at both ends: equal for two spellings of one number. */
function digitsOf(text: string): string {
  const digits = text.replace(/e.*/i, '').replace(/\D/g, '')
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start += 1
  while (end > start && digits[end - 1] === '0') end -= 1
  return digits.slice(start, end)
}
