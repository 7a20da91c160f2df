import { randomUUID } from 'node:crypto'
import { DecimalText } from '../readers/decimal.ts'
import type { RawFields } from '../readers/rowDecoder.ts'
import { RowError } from '../readers/rowError.ts'
import { FormatError } from './formatError.ts'
import type { Line } from './lines.ts'

/** A row of a file before validation: its fields, or the reason why it cannot be parsed. */
export interface RawRow {
  /** Number of its first line, from 1. */
  line: number
  text: string
  fields: RawFields | RowError
}

/**
 * Reads lines of JSON objects; skips blank lines.
 * @throws FormatError when the file begins with a JSON array
 */
export async function* readNdjson(blocks: AsyncIterable<Line[]>): AsyncGenerator<RawRow[]> {
  let isFirst = true
  for await (const lines of blocks) {
    const rows: RawRow[] = []
    for (const { number, text, error } of lines) {
      if (isFirst && text.trimStart().startsWith('[')) {
        throw new FormatError("it is a JSON array; write one object per line instead, for example with: jq -c '.[]'")
      }
      isFirst &&= isBlank(text)
      if (error !== undefined) rows.push({ line: number, text, fields: new RowError(error) })
      else if (!isBlank(text)) rows.push({ line: number, text: withoutReturn(text), fields: fieldsOf(text) })
    }
    yield rows
  }
}

function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

export function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** A number that a double may not represent exactly: 16 digits or more, or an exponent. */
const longNumber = /:\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/

function fieldsOf(text: string): RawFields | RowError {
  let value: unknown
  try {
    value = JSON.parse(text)
    if (longNumber.test(text)) value = parseExactly(text)
  } catch {
    return new RowError('is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof DecimalText) {
    return new RowError('is not a JSON object')
  }
  return value as RawFields
}

/** A key that marks an object as a wrapped number; random, so that no file contains it. */
const mark = randomUUID()
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/g

/**
 * Parses valid JSON with every number as its exact text.
 * JSON.parse of Node 20 does not pass a number's text to the reviver, so numbers are wrapped before and unwrapped there.
 */
function parseExactly(text: string): unknown {
  const wrapped = text.replace(stringOrNumber, (token) =>
    token.startsWith('"') ? token : `{${JSON.stringify(mark)}:"${token}"}`,
  )
  return JSON.parse(wrapped, (_key, value) =>
    typeof value === 'object' && value !== null && typeof value[mark] === 'string'
      ? new DecimalText(value[mark])
      : value,
  )
}
