import type { Span } from '../source/checksums.ts'

/** Rows of one export; about 70 MB of Parquet. In smaller ones, DuckDB has more incomplete row groups to combine. */
const rangeRows = 1_000_000

/** A day, its number of rows in the source, and whether it is to be copied. */
type DayRows = { day: string; rows: number; isWanted: boolean }

/**
 * Combines wanted days that follow each other into ranges of about `rangeRows` rows, at least one day. A range has no other day
 * with rows.
 * @returns ranges from the newest to the oldest
 */
export function rangesOf(days: readonly DayRows[]): Span[] {
  const ranges: Span[] = []
  let last: { range: Span; rows: number } | undefined
  for (const { day, rows, isWanted } of days.toSorted((a, b) => (a.day < b.day ? 1 : -1))) {
    if (!isWanted) {
      last = undefined
    } else if (last && last.rows + rows <= rangeRows) {
      last.range.from = day
      last.rows += rows
    } else {
      last = { range: { from: day, to: day }, rows }
      ranges.push(last.range)
    }
  }
  return ranges
}
