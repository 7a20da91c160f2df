import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

/** Rows of a UTC month. In `Extent`: the ids that a batch adds to it; negative where ids move to another month. */
export type MonthlyRows = {
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

/** @param atMs epoch milliseconds @returns the first day of its UTC month, `2026-11-01` */
export function monthOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 7)}-01`
}

/** @param month its first day, `2026-11-01` @returns epoch milliseconds */
export function startOfNextMonth(month: string): number {
  return startOfUtcMonth(Date.parse(month), 1)
}
