import { randomUUID } from 'node:crypto'
import { DecimalText } from './decimal.ts'

/** A number whose text a double may not give back: 16 digits or more, an exponent, or a zero at the end of its decimals. */
const inexact = /[:,[]\s*-?(?:[0-9.]{16}|[0-9.]+[eE]|\d+\.\d*0(?!\d))/

/**
 * Parses JSON; a number whose text a double does not give back is a `DecimalText`.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!inexact.test(text)) return value
  // JSON.parse of Node 20 does not pass the text of a number to the reviver.
  const marked = text.replace(stringOrNumber, (token) =>
    token.startsWith('"') || `${Number(token)}` === token ? token : `"${mark}${token}"`,
  )
  return withNumbers(JSON.parse(marked))
}

/** Marks a text as a number; random, so that no file contains it. */
const mark = randomUUID()
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

function withNumbers(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) return new DecimalText(value.slice(mark.length))
  if (typeof value !== 'object' || value === null) return value
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) object[key] = withNumbers(object[key])
  return object
}
