import { printable } from '../import/printable.ts'

/**
 * Formats rows as a table for a terminal, with a heading per column and right-aligned numbers.
 * @param columns fields to show, in order; `null` is shown as `-`, and control characters are escaped
 * @param empty text to return if there are no rows
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
  empty: string,
) {
  if (rows.length === 0) return empty
  const cells = rows.map((row) => columns.map((column) => cell(row[column])))
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)),
  )
  const format = (line: readonly string[], row?: Row) =>
    line
      .map((text, index) => {
        const width = widths[index] ?? 0
        const column = columns[index]
        return row && column && typeof row[column] === 'number' ? text.padStart(width) : text.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [format(columns), ...cells.map((line, index) => format(line, rows[index]))].join('\n')
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return printable(value.join(','))
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}
