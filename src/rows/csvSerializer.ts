import { type CsvEscape, escapeFormula } from './csvEscape.ts'

/** A value of a CSV cell; null is an empty cell. */
export type Cell = string | number | null

/** Tells spreadsheets that a CSV file is UTF-8. */
export const byteOrderMark = '\uFEFF'

/** Begins a file with a byte order mark, in one part with its first bytes: an error before them is still the first result. */
export async function* withByteOrderMark(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let mark = byteOrderMark
  for await (const part of parts) {
    yield mark === '' ? part : Buffer.concat([Buffer.from(mark), part])
    mark = ''
  }
}

/** The first line of a table. */
export function csvHeader(names: readonly string[], csvEscape: CsvEscape): string {
  return `${names.map(textCellOf(csvEscape)).join(',')}\n`
}

/** Formats rows as ClickHouse does: text in quotes, absent values empty, lines that end with a line feed. */
export function csvLines<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, Cell>>[],
  csvEscape: CsvEscape,
): string {
  const textCell = textCellOf(csvEscape)
  const cellOf = (value: Cell) => (typeof value === 'string' ? textCell(value) : `${value ?? ''}`)
  return rows.map((row) => `${names.map((name) => cellOf(row[name])).join(',')}\n`).join('')
}

/** @returns the function that writes a cell with a text */
export function textCellOf(csvEscape: CsvEscape): (text: string) => string {
  return csvEscape === 'formulas' ? (text) => quoted(escapeFormula(text)) : quoted
}

/** The text of a list: its items separated by `|`, or a JSON list where that would be ambiguous. */
export function listText(items: readonly string[]): string {
  const joined = items.join('|')
  const isPlain = !joined.startsWith('[') && items.every((item) => item !== '' && !item.includes('|'))
  return isPlain ? joined : JSON.stringify(items)
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
