import { type CsvEscape, escapeFormula } from './csvEscape.ts'

/** A value of a CSV cell; null is an empty one. */
export type Cell = string | number | boolean | null

/** Writes a table as ClickHouse would: texts in quotes, absent values empty, lines ended by a line feed. */
export function toCsv<Name extends string>(
  names: readonly Name[],
  rows: readonly Record<Name, Cell>[],
  csvEscape: CsvEscape,
): string {
  const textCell = csvEscape === 'formulas' ? (text: string) => quoted(escapeFormula(text)) : quoted
  const cellOf = (value: Cell) => (typeof value === 'string' ? textCell(value) : `${value ?? ''}`)
  const lines = [names.map(textCell), ...rows.map((row) => names.map((name) => cellOf(row[name])))]
  return lines.map((cells) => `${cells.join(',')}\n`).join('')
}

export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
