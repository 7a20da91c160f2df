import type { Column } from '../../stores/clickhouse/columnKinds.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'

/**
 * Large enough that ClickHouse creates few parts, which it merges with all indexes; small enough for two batches and the server's
 * copy of one in memory, and to arrive within the window of a write. A click takes about 500 bytes. The buffer doubles as it
 * grows: just below a power of two.
 */
const rowsMax = 50_000
const bytesMax = 30 << 20

/** Encoded rows of one table, each key once: the first row wins. Reusable after `clear`. */
export class RowBuffer<Row> {
  readonly #columns: readonly Column<Row>[]
  readonly #out = new RowBinary()
  /** Offset of the end of each key's row in the bytes; the rows are in the order of this map. */
  readonly #ends = new Map<string, number>()

  constructor(columns: readonly Column<Row>[]) {
    this.#columns = columns
  }

  get size(): number {
    return this.#ends.size
  }

  get isFull(): boolean {
    return this.size >= rowsMax || this.#out.length >= bytesMax
  }

  keys(): IterableIterator<string> {
    return this.#ends.keys()
  }

  /** The encoded rows; valid until the next change. */
  get bytes(): Buffer {
    return this.#out.bytes
  }

  /** @returns false when the buffer already has a row with that key */
  add(key: string, row: Row): boolean {
    if (this.#ends.has(key)) return false
    for (const column of this.#columns) column.write(this.#out, row)
    this.#ends.set(key, this.#out.length)
    return true
  }

  /** Removes rows; unknown keys are ignored. */
  drop(keys: ReadonlySet<string>): void {
    if (keys.size === 0) return
    let from = 0
    let to = 0
    for (const [key, end] of this.#ends) {
      if (keys.has(key)) {
        this.#ends.delete(key)
      } else {
        if (to !== from) this.#out.moveLeft(to, from, end)
        to += end - from
        this.#ends.set(key, to)
      }
      from = end
    }
    this.#out.truncate(to)
  }

  clear(): void {
    this.#ends.clear()
    this.#out.truncate(0)
  }
}
