import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

const dayMs = 86_400_000

/** Rows of a UTC month. In `Extent`: the ids that a batch adds to it; negative where ids move to another month. */
export interface MonthlyRows {
  /** First day of the month, `2026-11-01`. */
  month: string
  rows: number
}

/** Earliest and latest clicked_at or converted_at of a batch, epoch milliseconds, and the rows that it adds to the counts. */
export interface Extent {
  firstMs: number
  lastMs: number
  added: readonly MonthlyRows[]
  /** The latest time of the rows that it adds which is not in the future; absent: there is none. */
  throughMs?: number
}

/**
 * @param times clicked_at or converted_at of the rows that a batch adds, epoch milliseconds; at least one
 * @param removed clicked_at or converted_at of the rows that it removes, epoch milliseconds
 */
export function extentOf(times: Iterable<number>, removed: readonly number[] = [], nowMs = Date.now()): Extent {
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  const byDay = new Map<number, number>()
  const count = (atMs: number, rows: number) => {
    firstMs = Math.min(firstMs, atMs)
    lastMs = Math.max(lastMs, atMs)
    const day = Math.floor(atMs / dayMs)
    byDay.set(day, (byDay.get(day) ?? 0) + rows)
  }
  let throughMs = Number.NEGATIVE_INFINITY
  for (const atMs of times) {
    count(atMs, 1)
    if (atMs <= nowMs && atMs > throughMs) throughMs = atMs
  }
  for (const atMs of removed) count(atMs, -1)
  const byMonth = new Map<string, number>()
  for (const [day, rows] of byDay) {
    const month = monthOf(day * dayMs)
    byMonth.set(month, (byMonth.get(month) ?? 0) + rows)
  }
  const added = [...byMonth].flatMap(([month, rows]) => (rows === 0 ? [] : [{ month, rows }]))
  return { firstMs, lastMs, added, ...(Number.isFinite(throughMs) && { throughMs }) }
}

/** @param atMs epoch milliseconds @returns the first day of its UTC month, `2026-11-01` */
export function monthOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 7)}-01`
}

/** @param month its first day, `2026-11-01` @returns epoch milliseconds */
export function startOfNextMonth(month: string): number {
  return startOfUtcMonth(Date.parse(month), 1)
}
