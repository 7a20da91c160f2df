import { isJsonObject, parseJson } from '../../query/exactJson.ts'
import { RowError } from '../readers/rowError.ts'
import type { RawFields } from '../readers/rowReader.ts'
import { FormatError } from './fileFormat.ts'
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
    for (const line of lines) {
      const { text } = line
      if (isFirst && text.trimStart().startsWith('[')) {
        throw new FormatError("it is a JSON array; write one object per line instead, for example with: jq -c '.[]'")
      }
      isFirst &&= isBlank(text)
      const row = rawRowOf(line)
      if (row) rows.push(row)
    }
    yield rows
  }
}

/** @returns the row of a line; undefined for a blank line */
export function rawRowOf({ number, text, error }: Line, parse = parseJson): RawRow | undefined {
  if (error !== undefined) return { line: number, text, fields: new RowError(error) }
  return isBlank(text) ? undefined : { line: number, text: withoutReturn(text), fields: fieldsOf(text, parse) }
}

const isBlank = (text: string): boolean => !/\S/.test(text)

export function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

const severalValues = 'has more than one JSON value; end each row with a line feed (curl: --data-binary)'

function fieldsOf(text: string, parse: (text: string) => unknown): RawFields | RowError {
  let value: unknown
  try {
    value = parse(text)
  } catch {
    const isSeveral = /\}\s*\{/.test(text)
    return new RowError(isSeveral ? severalValues : 'is not JSON')
  }
  if (Array.isArray(value)) return new RowError('is a JSON array; write one object per line')
  return isJsonObject(value) ? value : new RowError('is not a JSON object')
}
