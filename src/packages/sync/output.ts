import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { QueryResult } from './database/query.ts'
import { printable } from './source/errors.ts'

export const outputFormats = ['table', 'csv', 'json', 'ndjson'] as const
export type OutputFormat = (typeof outputFormats)[number]

/** Prints the rows of a statement on standard output. @returns their number */
export async function printRows(result: QueryResult, format: OutputFormat): Promise<number> {
  let count = 0
  const parts = result.parts[Symbol.asyncIterator]()
  // Most failures come with the first rows: then nothing is printed.
  let part = await parts.next()
  async function* counted() {
    for (; !part.done; part = await parts.next()) {
      count += part.value.length
      yield part.value
    }
  }
  const texts = writers[format]({ ...result, parts: counted() })
  // A program gets the bytes of the rows, a terminal nothing that changes what it shows.
  const shown = process.stdout.isTTY ? printableLines(texts) : texts
  await pipeline(Readable.from(shown), process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    // The reader, such as `head`, has enough.
    if (error.code !== 'EPIPE') throw error
  })
  return count
}

async function* printableLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield text.split(/\r?\n/).map(printable).join('\n')
}

const writers: Record<OutputFormat, (result: QueryResult) => AsyncGenerator<string>> = { table, csv, json, ndjson }

async function* ndjson({ columns, parts }: QueryResult): AsyncGenerator<string> {
  const names = columns.map((name) => JSON.stringify(name))
  const line = (row: string[]) => `{${row.map((value, index) => `${names[index]}:${value}`).join(',')}}\n`
  for await (const rows of parts) yield rows.map(line).join('')
}

/** An array of objects, one per line. */
async function* json(result: QueryResult): AsyncGenerator<string> {
  let start = '['
  for await (const lines of ndjson(result)) {
    if (lines === '') continue
    yield start + lines.trimEnd().replaceAll('\n', ',\n')
    start = ',\n'
  }
  yield start === '[' ? '[]\n' : ']\n'
}

async function* csv({ columns, parts }: QueryResult): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const rows of parts) yield rows.map((row) => csvLine(row.map(textOf))).join('')
}

/** NULL is an empty cell, an empty text is `""`. */
function csvLine(cells: readonly (string | null)[]): string {
  const quoted = (cell: string) => (cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return `${cells.map((cell) => (cell === null ? '' : quoted(cell))).join(',')}\r\n`
}

/** Columns are as wide as the widest cell of the first part; numbers are aligned to the right. */
async function* table({ columns: names, parts }: QueryResult): AsyncGenerator<string> {
  const columns = names.map(printable)
  let widths: number[] | undefined
  for await (const part of parts) {
    const rows = part.map((row) => row.map((value) => printable(textOf(value) ?? '')))
    const isNumber = (index: number) => part.some((row) => /^-?\d/.test(row[index] ?? ''))
    const line = (cells: readonly string[]) => {
      const padded = cells.map((cell, index) =>
        isNumber(index) ? cell.padStart(widths?.[index] ?? 0) : cell.padEnd(widths?.[index] ?? 0),
      )
      return `${padded.join('  ').trimEnd()}\n`
    }
    if (!widths) {
      widths = columns.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)))
      yield line(columns) + line(widths.map((width) => '─'.repeat(width)))
    }
    yield rows.map(line).join('')
  }
  if (!widths) yield `${columns.join('  ')}\n`
}

/** @param value JSON @returns the text of a value; null for NULL */
function textOf(value: string): string | null {
  if (value === 'null') return null
  return value.startsWith('"') ? (JSON.parse(value) as string) : value
}
