import type { Line } from './lines.ts'

/** Networks write the name of a report, its range and its filters before the header. */
export const headerLines = 20

/**
 * Finds the header of a sheet: the first of the first 20 lines that has all columns, else the line that has most of them.
 * @param namesOf the cells of a line; undefined if it is malformed
 * @returns the number of the line; the number of the first line if none has a column
 */
export function findHeader(
  lines: readonly Line[],
  columns: readonly string[],
  namesOf: (text: string) => readonly string[] | undefined,
): number {
  let best = { line: lines[0]?.number ?? 1, found: 0 }
  for (const { number, text } of lines.slice(0, headerLines)) {
    const names = namesOf(text) ?? []
    const found = columns.filter((column) => names.includes(column)).length
    if (found > best.found) best = { line: number, found }
  }
  return best.line
}
