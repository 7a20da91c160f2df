import { type CsvEscape, escapeFormula } from './csvEscape.ts'

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
  return `${names.map(textCellOf(csvEscape)).join()}\n`
}

/** @returns the function that writes a cell with a text, as ClickHouse does: in quotes */
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
