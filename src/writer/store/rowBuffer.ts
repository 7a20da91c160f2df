import type { Column } from '../../stores/clickhouse/columnKinds.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import type { ExistingKeys } from './existingKeys.ts'

/**
 * Large, so that ClickHouse merges few parts; small enough for two batches and the server's copy in memory, and for the window
 * of a write. A click takes about 500 bytes. Just below a power of two, since the buffer doubles.
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

  /** Replaces the last column of each row, an instant. @param timeOf epoch milliseconds by key */
  setLastInstant(timeOf: (key: string) => number): void {
    for (const [key, end] of this.#ends) this.#out.replaceInstant(end, timeOf(key))
  }

  /**
   * Removes rows that are stored.
   * @param onRow receives each row before it is removed, with its position among all; the bytes are not copied
   */
  async dropStored(
    existing: ExistingKeys,
    onRow?: (key: string, position: number, bytes: Buffer) => void,
  ): Promise<void> {
    const keys = await existing.findExisting([...this.keys()])
    if (keys.size === 0) return
    let from = 0
    let to = 0
    let position = 0
    for (const [key, end] of this.#ends) {
      if (keys.has(key)) {
        onRow?.(key, position, this.#out.bytes.subarray(from, end))
        this.#ends.delete(key)
      } else {
        if (to !== from) this.#out.moveLeft(to, from, end)
        to += end - from
        this.#ends.set(key, to)
      }
      from = end
      position += 1
    }
    this.#out.length = to
  }

  clear(): void {
    this.#ends.clear()
    this.#out.length = 0
  }
}
