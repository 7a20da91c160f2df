import { randomUUID } from 'node:crypto'
import { DecimalText, isNumberText } from './decimal.ts'

/**
 * A number whose text a double may not give back: 16 digits or more, an exponent, a zero at the end of its decimals, or six at their
 * beginning, as the double 1e-7 is written with an exponent. The colon of a field follows a quote: times in strings have colons too.
 */
const inexact = /(?:"\s*:|[,[])\s*-?(?:[0-9.]{16}|[0-9.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6})/

/**
 * Parses JSON; a number whose text a double does not give back is a `DecimalText`.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  if (!inexact.test(text)) return JSON.parse(text)
  // JSON.parse of Node 20 does not pass the text of a number to the reviver, so these numbers become marked strings.
  const parts = text.split(string)
  for (let outside = 0; outside < parts.length; outside += 2) {
    parts[outside] = parts[outside]?.replace(number, marked) ?? ''
  }
  return withNumbers(JSON.parse(parts.join('')))
}

/**
 * A captured string: splitting keeps it between the texts outside of strings. TRAP: with a required closing quote, a string without one
 * would take quadratic time.
 */
const string = /("[^"\\]*(?:\\.[^"\\]*)*"?)/s
const number = /-?\d[\d.eE+-]*/g

/** Marks a text as a number; random, so that no file contains it. */
const mark = randomUUID()

function marked(token: string): string {
  return isNumberText(token) && `${Number(token)}` !== token ? `"${mark}${token}"` : token
}

function withNumbers(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? new DecimalText(value.slice(mark.length)) : value
  if (typeof value !== 'object' || value === null) return value
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    const given = object[key]
    const read = withNumbers(given)
    if (read !== given) object[key] = read
  }
  return object
}
