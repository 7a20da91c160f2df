import { type CsvEscape, type CsvQuery, escapeFormula } from './csvEscape.ts'

/** Tells spreadsheets that a CSV file is UTF-8. */
const byteOrderMark = '\uFEFF'

const [quote = 0, comma = 0, semicolon = 0, point = 0] = Buffer.from('",;.')

/**
 * Finishes the parts of a CSV file, one after the other. A byte order mark is in one part with the first bytes: an error before them
 * is still the first result.
 * @returns the function that finishes the next part, in place
 */
export function csvFinisher({ csv_bom: hasMark, csv_decimal: decimal }: CsvQuery): (part: Buffer) => Buffer {
  let start = hasMark ? byteOrderMark : ''
  // Texts, also dates, are in quotes, and a part may end within one.
  let isText = false
  return (part) => {
    for (let at = 0; decimal && at < part.length; at++) {
      if (part[at] === quote) isText = !isText
      else if (!isText && part[at] === comma) part[at] = semicolon
      else if (!isText && part[at] === point) part[at] = comma
    }
    const finished = start === '' ? part : Buffer.concat([Buffer.from(start), part])
    start = ''
    return finished
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
