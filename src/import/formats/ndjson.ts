import { DecimalText } from '../decimal.ts'
import type { RawFields } from '../fields.ts'
import { RowError } from '../rowError.ts'
import type { Line } from './lines.ts'

/** A row as it stands in the file: its place, its text, and its fields or why it has none. */
export interface RawRow {
  /** Of its first line, from 1. */
  line: number
  text: string
  fields: RawFields | RowError
}

/** Reads lines of JSON objects; blank lines are no rows. */
export async function* readNdjson(blocks: AsyncIterable<Line[]>): AsyncGenerator<RawRow[]> {
  for await (const lines of blocks) {
    const rows: RawRow[] = []
    for (const { number, text, error: refused } of lines) {
      if (refused !== undefined) rows.push({ line: number, text, fields: new RowError(refused) })
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

/** A value that a double may not hold as it was written: 16 digits or more, or an exponent. */
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

/** A key that marks a number as text on its way through JSON.parse. */
const mark = '\0number'
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/**
 * Parses JSON text, known to be JSON, with every number as it was written.
 * JSON.parse of Node 20 does not tell a number's text, so numbers are wrapped first and unwrapped as they are read.
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
