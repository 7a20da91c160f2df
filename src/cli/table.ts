import { printable } from '../import/readers/printable.ts'

/**
 * Formats rows as a table for a terminal, with a heading per column and right-aligned numbers.
 * `null` is shown as `-`, and control characters are escaped.
 * @param empty text to return if there are no rows
 * @param columns fields to show, in order; all by default
 */
export function table<Row extends object>(
  rows: readonly Row[],
  empty: string,
  columns?: readonly (keyof Row & string)[],
) {
  const [first] = rows
  if (!first) return empty
  const shown = columns ?? (Object.keys(first) as (keyof Row & string)[])
  const padded = shown.map((column) => {
    const cells = rows.map((row) => cell(row[column]))
    const width = cells.reduce((widest, { length }) => Math.max(widest, length), column.length)
    const pad = (text: string, row: Row | undefined) =>
      typeof row?.[column] === 'number' ? text.padStart(width) : text.padEnd(width)
    return [column.padEnd(width), ...cells.map((text, index) => pad(text, rows[index]))]
  })
  const lines = [shown, ...rows].map((_, index) => padded.map((cells) => cells[index]).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return printable(value.join(','))
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}
