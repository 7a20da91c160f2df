import type { FeedRow } from './rows.ts'

/** A flush of fewer rows is measured as one of this number: its duration hardly depends on the number of its rows. */
export const measuredRowsMin = 1_000

/** How fast the last flushes stored rows. */
export class FlushSpeed {
  /** Sums of the last flushes; each one counts half as much as the next one. */
  #flushed = { rows: 0, bytes: 0, ms: 0 }

  measure(rows: readonly FeedRow[], ms: number): void {
    const weight = Math.max(1, measuredRowsMin / rows.length)
    const bytes = rows.reduce((sum, row) => sum + row.bytes.length, 0)
    const before = this.#flushed
    this.#flushed = {
      rows: before.rows / 2 + weight * rows.length,
      bytes: before.bytes / 2 + weight * bytes,
      ms: before.ms / 2 + ms,
    }
  }

  /** Time in which a row was stored, milliseconds; 0 before the first flush has ended. */
  get rowMs(): number {
    const { rows, ms } = this.#flushed
    return rows === 0 ? 0 : ms / rows
  }

  /**
   * @param storing rows of the flush that is running, and for how long it has run
   * @param waiting rows and bytes of further rows
   * @returns how long all of these rows take, milliseconds; 0 before the first flush has ended
   */
  expectedMs(storing: { rows: number; ms: number }, waiting: { rows: number; bytes: number }): number {
    const { rows, bytes } = this.#flushed
    if (rows === 0) return 0
    // A flush that takes longer than the last ones is a measurement too.
    const rowMs = Math.max(this.rowMs, storing.ms / Math.max(storing.rows, measuredRowsMin))
    const leftMs = Math.max(0, storing.rows * rowMs - storing.ms)
    return leftMs + (waiting.rows + (waiting.bytes * rows) / bytes) * rowMs
  }
}
