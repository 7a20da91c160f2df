import type { FeedRow, RejectedRow, RowResult } from './rows.ts'

/** Counts the rows in memory, and their bytes: rows without a result, and rows whose sources have to name the reason of their result. */
export interface HeldRows {
  /** Rows without a result. */
  open: number
  rows: number
  bytes: number
}

/** Rows that a source adds together, and their results. */
export class AddedRows {
  /** A row is undefined once it needs no memory: other rows may still wait for a minute. */
  readonly rows: (FeedRow | RejectedRow | undefined)[]
  /** By the index of the row; undefined until it is known. */
  readonly results: (RowResult | undefined)[]
  /** How long a row waits while another writer has its account, milliseconds; it then gets `retry`. */
  readonly waitMs: number
  readonly addedAtMs = performance.now()
  /** Resolves when each row has a result. */
  readonly done: Promise<void>
  readonly #held: HeldRows
  #left: number
  #resolve: () => void = () => {}

  constructor(rows: readonly (FeedRow | RejectedRow)[], waitMs: number, held: HeldRows) {
    this.rows = [...rows]
    this.results = new Array(rows.length)
    this.waitMs = waitMs
    this.#held = held
    this.#left = rows.length
    held.open += rows.length
    held.rows += rows.length
    for (const row of rows) held.bytes += row.bytes.length
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (rows.length === 0) this.#resolve()
  }

  get isDone(): boolean {
    return this.#left === 0
  }

  /** Gives a result to a row. @returns the row, undefined if it has one */
  settle(index: number, result: RowResult): FeedRow | RejectedRow | undefined {
    const row = this.rows[index]
    if (!row || this.results[index]) return undefined
    this.results[index] = result
    if (result.reason === undefined) this.#drop(index)
    else copyBytes(row)
    this.#held.open -= 1
    this.#left -= 1
    if (this.#left === 0) this.#resolve()
    return row
  }

  /** Forgets the rows that will not be stored. Call it when each row has a result. */
  forget(): void {
    for (const index of this.rows.keys()) this.#drop(index)
  }

  #drop(index: number): void {
    const row = this.rows[index]
    if (!row) return
    this.#held.rows -= 1
    this.#held.bytes -= row.bytes.length
    this.rows[index] = undefined
  }
}

/** A row without a result. */
export interface Entry {
  readonly added: AddedRows
  readonly index: number
  readonly row: FeedRow
  /** When it began to wait for another writer, by `performance.now()`. */
  sinceMs: number
}

export const hasNoResult = ({ added, index }: Entry): boolean => added.results[index] === undefined

/** Copies the bytes of a row that is kept longer than other rows: they share 8 KiB of memory. */
export function copyBytes(row: { bytes: Buffer }): void {
  row.bytes = Buffer.from(new Uint8Array(row.bytes).buffer)
}
