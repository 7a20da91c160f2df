import { randomBytes } from 'node:crypto'
import type { Note } from './notes.ts'

/** A number that a double may not represent: 16 digits or more, or an exponent. */
const longNumber = /:\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/g

/** Precedes the text of a marked number. It is random, and no valid text contains an unpaired surrogate: no body has it. */
const mark = `\ud800${randomBytes(6).toString('hex')}`

/** Replaces each number that has more digits than a double by a text, which `readNumber` reads. @param json valid JSON */
export function markInexact(json: string): string {
  if (!longNumber.test(json)) return json
  return json.replace(textOrNumber, (token) => (isInexact(token) ? JSON.stringify(mark + token) : token))
}

/** @returns a marked number as the nearest double, with a note, and any other value as it is */
export function readNumber(value: unknown, field: string, note: Note): unknown {
  if (typeof value !== 'string' || !value.startsWith(mark)) return value
  const number = Number(value.slice(mark.length))
  note('digits_lost', field, `The number is stored as ${number}: it has more digits than a double.`)
  return number
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
