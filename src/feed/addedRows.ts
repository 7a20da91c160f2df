import type { FeedRow, RejectedRow, RowResult } from './rows.ts'

/** Rows that a source adds together, and their results. */
export class AddedRows {
  /** Undefined once they need no memory: other rows may still wait for a minute. */
  readonly rows: (FeedRow | RejectedRow | undefined)[]
  /** By the index of the row; undefined until it is known. */
  readonly results: (RowResult | undefined)[]
  /** How long a row waits while another writer has its account, milliseconds; it then gets `retry`. */
  readonly waitMs: number
  readonly addedAtMs = performance.now()
  /** Resolves when each row has a result. */
  readonly done: Promise<void>
  #left: number
  #resolve: () => void = () => {}

  constructor(rows: readonly (FeedRow | RejectedRow)[], waitMs: number) {
    this.rows = [...rows]
    this.results = new Array(rows.length)
    this.waitMs = waitMs
    this.#left = rows.length
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (rows.length === 0) this.#resolve()
  }

  get isDone(): boolean {
    return this.#left === 0
  }

  settle(index: number, result: RowResult): void {
    this.results[index] = result
    this.#left -= 1
    if (this.#left === 0) this.#resolve()
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

/** Counts the rows in memory: rows without a result, and rows of which their sources tell the reason of their result. */
export class HeldRows {
  rows = 0
  bytes = 0
  /** Rows without a result. */
  open = 0
  readonly #onResult: ((resource: string, result: string) => void) | undefined

  constructor(onResult: ((resource: string, result: string) => void) | undefined) {
    this.#onResult = onResult
  }

  add(rows: readonly (FeedRow | RejectedRow)[], waitMs: number): AddedRows {
    this.open += rows.length
    this.rows += rows.length
    for (const row of rows) this.bytes += row.bytes.length
    return new AddedRows(rows, waitMs)
  }

  /** Gives a result to a row that has none. */
  settle({ added, index }: Pick<Entry, 'added' | 'index'>, result: RowResult): void {
    const row = added.rows[index]
    if (!row || added.results[index]) return
    this.open -= 1
    this.#onResult?.(row.resource, result.result)
    if (result.reason === undefined) this.#drop(added, index)
    else keepAlone(row)
    added.settle(index, result)
  }

  /** Forgets the rows of a source that will not be stored. Call it when each row has a result. */
  forget(added: AddedRows): void {
    for (const index of added.rows.keys()) this.#drop(added, index)
  }

  #drop({ rows }: AddedRows, index: number): void {
    const row = rows[index]
    if (!row) return
    this.rows -= 1
    this.bytes -= row.bytes.length
    rows[index] = undefined
  }
}

/** Copies the bytes of a row that is kept longer than other rows: they share 8 KiB of memory. */
export function keepAlone(row: { bytes: Buffer }): void {
  row.bytes = Buffer.from(new Uint8Array(row.bytes).buffer)
}
