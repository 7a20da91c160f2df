import type { Column } from '../../stores/clickhouse/columnKinds.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'

/**
 * Large, so that ClickHouse merges few parts; small enough for two batches and the server's copy in memory, and for the window
 * of a write. A click takes about 500 bytes. Just below a power of two, since the buffer doubles.
 */
const rowsMax = 50_000
const bytesMax = 30 << 20

/**
 * Encoded rows of one table, each key once: the first row wins. Reusable after `clear`.
 * @template Note what the buffer keeps of a row beside its bytes
 */
export class RowBuffer<Row, Note> {
  readonly #columns: readonly Column<Row>[]
  readonly #out = new RowBinary()
  /** `end` is the offset after the row in the bytes; the rows are in the order of this map. */
  readonly rows = new Map<string, { end: number; readonly note: Note }>()

  constructor(columns: readonly Column<Row>[]) {
    this.#columns = columns
  }

  get isFull(): boolean {
    return this.rows.size >= rowsMax || this.#out.length >= bytesMax
  }

  /** The encoded rows; valid until the next change. */
  get bytes(): Buffer {
    return this.#out.bytes
  }

  /** @returns false when the buffer already has a row with that key */
  add(key: string, row: Row, note: Note): boolean {
    if (this.rows.has(key)) return false
    for (const column of this.#columns) column.write(this.#out, row)
    this.rows.set(key, { end: this.#out.length, note })
    return true
  }

  /** Replaces the last column of each row, an instant. @param timeOf epoch milliseconds by key */
  setLastInstant(timeOf: (key: string) => number): void {
    for (const [key, { end }] of this.rows) this.#out.replaceInstant(end, timeOf(key))
  }

  /**
   * Removes the rows with these keys.
   * @param onRow receives each row before it is removed; the bytes are not copied
   */
  drop(keys: ReadonlySet<string>, onRow?: (key: string, note: Note, bytes: Buffer) => void): void {
    if (keys.size === 0) return
    let from = 0
    let to = 0
    for (const [key, row] of this.rows) {
      const { end, note } = row
      if (keys.has(key)) {
        onRow?.(key, note, this.#out.bytes.subarray(from, end))
        this.rows.delete(key)
      } else {
        if (to !== from) this.#out.moveLeft(to, from, end)
        to += end - from
        row.end = to
      }
      from = end
    }
    this.#out.length = to
  }

  clear(): void {
    this.rows.clear()
    this.#out.length = 0
  }
}
