import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

const dayMs = 86_400_000

/** Rows of a UTC month. In `Extent`: the ids that a batch adds to it; negative where ids move to another month. */
export interface MonthlyRows {
  /** First day of the month, `2026-11-01`. */
  month: string
  rows: number
}

/** Earliest and latest time of the facts of a batch, such as clicked_at, epoch milliseconds, and the rows that it adds to the counts. */
export interface Extent {
  firstMs: number
  lastMs: number
  added: readonly MonthlyRows[]
  /** The latest time of its new rows that is not in the future, -Infinity if all are in the future; absent or null: it has no new rows. */
  throughMs?: number | null
  /** The earliest time of its new rows that is in the future; absent: there is none. */
  aheadMs?: number
}

/**
 * @param times of the facts that a batch adds, such as clicked_at, epoch milliseconds; at least one
 * @param removed times of the facts that it removes, epoch milliseconds
 * @param given times of the new rows, as `times`; the rows of all other times are written again
 */
export function extentOf(
  times: readonly number[],
  removed: readonly number[] = [],
  given: readonly number[] = times,
  nowMs = Date.now(),
): Extent {
  let firstMs = Number.POSITIVE_INFINITY
  let lastMs = Number.NEGATIVE_INFINITY
  const byDay = new Map<number, number>()
  const count = (atMs: number, rows: number) => {
    firstMs = Math.min(firstMs, atMs)
    lastMs = Math.max(lastMs, atMs)
    const day = Math.floor(atMs / dayMs)
    byDay.set(day, (byDay.get(day) ?? 0) + rows)
  }
  for (const atMs of times) count(atMs, 1)
  for (const atMs of removed) count(atMs, -1)
  let throughMs = Number.NEGATIVE_INFINITY
  let aheadMs = Number.POSITIVE_INFINITY
  for (const atMs of given) {
    if (atMs > nowMs) aheadMs = Math.min(aheadMs, atMs)
    else throughMs = Math.max(throughMs, atMs)
  }
  const byMonth = new Map<string, number>()
  for (const [day, rows] of byDay) {
    const month = monthOf(day * dayMs)
    byMonth.set(month, (byMonth.get(month) ?? 0) + rows)
  }
  return {
    firstMs,
    lastMs,
    added: [...byMonth].flatMap(([month, rows]) => (rows === 0 ? [] : [{ month, rows }])),
    ...(given.length > 0 && { throughMs }),
    ...(Number.isFinite(aheadMs) && { aheadMs }),
  }
}

/** @param atMs epoch milliseconds @returns the first day of its UTC month, `2026-11-01` */
export function monthOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 7)}-01`
}

/** @param month its first day, `2026-11-01` @returns epoch milliseconds */
export function startOfNextMonth(month: string): number {
  return startOfUtcMonth(Date.parse(month), 1)
}
