import { dayMs } from '../stores/timing/units.ts'
import type { PageKey } from './pagination.ts'
import type { Range } from './timeRange.ts'

/**
 * Reads the next rows of a list after a key, of which `missing` are needed.
 * @returns rows in the order of the list, and the key after which the source continues; undefined when it has no more rows
 */
export type Source<Key, Row> = (
  after: Key | undefined,
  missing: number,
) => Promise<{ rows: Row[]; next: Key | undefined }>

/**
 * Reads a list from its sources, each until it has no more rows, until there are `limit` rows.
 * @param after key of the last row of the previous page
 * @returns up to `limit` rows, fewer only when there are no more
 */
export async function readPage<Key, Row>(
  sources: readonly Source<Key, Row>[],
  after: Key | undefined,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const read of sources) {
    let next = after
    do {
      const part = await read(next, limit - rows.length)
      rows.push(...part.rows)
      if (rows.length >= limit) return rows.slice(0, limit)
      next = part.next
    } while (next !== undefined)
  }
  return rows
}

/**
 * Divides a range into slices, newest first. Partitions and parts that a slice does not touch cost nothing.
 * @param endMs where the first page ends, epoch milliseconds
 * @param days before this end at which slices begin, ascending; the last slice has the rest
 */
export function newestSlices(range: Partial<Range>, endMs: number, days: readonly number[]): Partial<Range>[] {
  const slices: Partial<Range>[] = []
  let rest = range
  for (const fromMs of days.map((count) => Math.floor(endMs - count * dayMs))) {
    if (fromMs <= (range.fromMs ?? 0)) break
    slices.push({ ...rest, fromMs })
    rest = { ...rest, untilMs: fromMs }
  }
  return [...slices, rest]
}

/** @returns the rows without those that repeat the key of the row before: copies and versions are adjacent until a merge */
export function withoutRepetitions<Row extends PageKey>(rows: readonly Row[]): Row[] {
  return rows.filter(({ atMs, id }, index) => atMs !== rows[index - 1]?.atMs || id !== rows[index - 1]?.id)
}
