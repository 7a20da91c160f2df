import { isUnavailable } from '../problem.ts'
import type { AccountClaims } from './accountClaims.ts'
import type { FeedStore } from './feedStore.ts'
import { type FeedRow, notStoredYet, otherWriter, type RejectedRow, type RowResult, rejected } from './rows.ts'

/** What stores the rows: one process uses it, one call at a time. */
export interface RowStore extends Pick<FeedStore, 'flush'> {
  claims: Pick<AccountClaims, 'lost' | 'claim' | 'holderOf' | 'readWishes' | 'release'>
}

/** Limits of one flush; bytes of the rows as they were sent. */
const flushMax = { rows: 50_000, bytes: 30 << 20, accounts: 5_000 }
/** A flush of more rows than this has no more rows than are expected to be stored within this time. */
const flushMaxMs = 20_000
/** A flush of fewer rows is measured as one of this number: its duration hardly depends on the number of its rows. */
const measuredRowsMin = 1_000
/** Limits of all rows in memory: sources that can refuse rows refuse them beyond. */
const heldMax = { rows: 100_000, bytes: 128 << 20 }
/** Between two looks at the wishes of other writers, and between two attempts to claim an account. */
const tickMs = 1_000
/** A warning names who has an account once its rows have waited for this time. */
const reportMs = 2_000
/** A claimed account without rows is released after this time. */
const idleMs = 60_000

/** The result of a row that had to wait when the queue was closed. */
export const feedIsEnding: RowResult = { result: 'retry', reason: 'the feed is ending' }

/** Rows that a source gives together, and their results. */
export class Batch {
  /** Undefined once stored: the other rows of a batch may wait for a minute. */
  readonly rows: (FeedRow | RejectedRow | undefined)[]
  /** By the index of the row; undefined until it is known. */
  readonly results: (RowResult | undefined)[]
  /** How long a row waits while another writer has its account, milliseconds; it then gets `retry`. */
  readonly waitMs: number
  readonly addedAtMs = performance.now()
  /** Rows in memory that have a result, and their bytes. */
  kept = { rows: 0, bytes: 0 }
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

interface Entry {
  readonly batch: Batch
  readonly index: number
  readonly row: FeedRow
  /** When it was added, or began to wait for another writer, by `performance.now()`. */
  sinceMs: number
}

/** Rows of an account that another writer has; none if their sources do not wait. */
interface Waiting {
  entries: Entry[]
  /** When an attempt to claim the account first failed, by `performance.now()`; undefined once that is reported. */
  sinceMs: number | undefined
}

export interface QueueOptions {
  /**
   * From the start of one flush to the start of the next one, milliseconds. Between them is a pause as long as the flush, at most this
   * time for 5,000 accounts and a share of it for fewer: what a flush does for an account, it then does for more rows.
   */
  flushMs: number
  /** Called after each flush with its duration. */
  onFlush?: ((seconds: number) => void) | undefined
  /** Called with the result of each row; the resource is empty if the row names none. */
  onResult?: ((resource: string, result: string) => void) | undefined
  warn: (line: string) => void
}

/** Rows of all sources until they are stored, and the loop that stores them. The rows of an account keep their order. */
export class RowQueue {
  readonly #store: RowStore
  readonly #options: QueueOptions
  /** Rows in memory: those without a result, and those that their sources have to name. */
  readonly held = { rows: 0, bytes: 0 }
  #ready: Entry[] = []
  /** By account. */
  readonly #waiting = new Map<string, Waiting>()
  /** Entries of the flush that is running, and when it began, by `performance.now()`. */
  #storing: readonly Entry[] = []
  #startedAtMs = 0
  /** Sums of the last flushes; each one counts half as much as the next one. */
  #flushed = { rows: 0, bytes: 0, ms: 0 }
  /** When a row of each claimed account was last stored, by `performance.now()`. */
  readonly #claimed = new Map<string, number>()
  #rows = 0
  #readyBytes = 0
  /** When the next flush may begin, by `performance.now()`. */
  #flushAtMs = Number.NEGATIVE_INFINITY
  #tickedAtMs = performance.now()
  #isClosing = false
  #isPatient = true
  #isUnavailable = false
  #wake: () => void = () => {}

  constructor(store: RowStore, options: QueueOptions) {
    this.#store = store
    this.#options = options
  }

  /** Rows without a result. */
  get rows(): number {
    return this.#rows
  }

  /** Whether a database was unavailable at the last attempt to store rows. */
  get isUnavailable(): boolean {
    return this.#isUnavailable
  }

  get claimedAccounts(): number {
    return this.#claimed.size
  }

  get oldestAgeMs(): number {
    const first = [this.#storing[0], this.#ready[0], ...Array.from(this.#waiting.values(), ({ entries }) => entries[0])]
    const addedAtMs = first.map((entry) => entry?.batch.addedAtMs ?? Number.POSITIVE_INFINITY)
    return Math.max(0, performance.now() - addedAtMs.reduce((one, other) => Math.min(one, other)))
  }

  /** Whether rows of the account wait for another writer. */
  isWaiting(accountId: string): boolean {
    return this.#waiting.has(accountId)
  }

  /** @param bytes of further rows that are being received */
  isFull(bytes = 0): boolean {
    return this.held.rows >= heldMax.rows || this.held.bytes + bytes >= heldMax.bytes
  }

  /** Time in which the last flushes stored a row, milliseconds; 0 before the first flush has ended. */
  get rowMs(): number {
    const { rows, ms } = this.#flushed
    return rows === 0 ? 0 : ms / rows
  }

  /**
   * @param bytes of further rows that are being received
   * @returns how long a row that is added now waits for its flush, milliseconds: 0 if nothing waits, or before the first flush has ended
   */
  expectedWaitMs(bytes = 0): number {
    const { rows, bytes: flushedBytes } = this.#flushed
    const storing = this.#storing.length
    if (rows === 0 || storing + this.#ready.length === 0) return 0
    const storingMs = storing === 0 ? 0 : performance.now() - this.#startedAtMs
    // A flush that takes longer than the last ones is a measurement too.
    const rowMs = Math.max(this.rowMs, storingMs / Math.max(storing, measuredRowsMin))
    const leftMs = Math.max(0, storing * rowMs - storingMs)
    return leftMs + (this.#ready.length + (bytes * rows) / flushedBytes) * rowMs
  }

  /**
   * The source calls `forget` once it has handled the results.
   * @param waitMs how long a row waits while another writer has its account, milliseconds
   */
  add(rows: readonly (FeedRow | RejectedRow)[], waitMs: number): Batch {
    const batch = new Batch(rows, waitMs)
    this.#rows += rows.length
    for (const [index, row] of rows.entries()) {
      this.#hold(1, row.bytes.length)
      if ('reason' in row) {
        this.#settle(batch, index, rejected(row.reason))
        continue
      }
      const entry = { batch, index, row, sinceMs: batch.addedAtMs }
      if (this.#isClosing) this.#settle(batch, index, feedIsEnding)
      else if (this.isWaiting(row.accountId)) this.#wait(entry)
      else this.#makeReady(entry)
    }
    this.#wake()
    return batch
  }

  /** Gives the rows of a batch that have no result `retry`. Those that are being stored may still be stored. */
  cancel(batch: Batch): void {
    if (batch.isDone) return
    for (const [index, row] of batch.rows.entries())
      if (row && 'accountId' in row)
        this.#settle(batch, index, this.isWaiting(row.accountId) ? otherWriter : notStoredYet)
    this.#setReady(this.#ready.filter(hasNoResult))
    for (const waiting of this.#waiting.values()) waiting.entries = waiting.entries.filter(hasNoResult)
  }

  /** Forgets the rows of a batch that will not be stored. Call it when each row has a result. */
  forget({ kept }: Batch): void {
    this.#hold(-kept.rows, -kept.bytes)
    kept.rows = 0
    kept.bytes = 0
  }

  /** Resolves when fewer rows than this are in memory, and fewer bytes than a flush takes; or when the signal aborts. */
  async hasRoom(rows: number, signal: AbortSignal): Promise<void> {
    const isFull = () => this.held.rows >= rows || this.held.bytes >= flushMax.bytes
    while (isFull() && !signal.aborted) await pauseUntil(50, () => {})
  }

  /**
   * Stores rows until `close` is called and each row has a result. After a failure the rows that are left get `retry`, so that no
   * request waits for them.
   * @throws LeaseLost; Problem `unavailable` only after an impatient `close`
   */
  async run(): Promise<void> {
    try {
      await this.#storeUntilClosed()
    } finally {
      this.close()
      const waiting = [...this.#waiting.values()].flatMap(({ entries }) => entries)
      for (const { batch, index } of [...this.#ready, ...waiting]) this.#settle(batch, index, feedIsEnding)
    }
  }

  async #storeUntilClosed(): Promise<void> {
    while (!(this.#isClosing && this.#rows === 0)) {
      this.#store.claims.lost.throwIfAborted()
      try {
        if (isOver(this.#tickedAtMs, tickMs) || !this.#isPatient) await this.#tick()
        if (this.#dueInMs() <= 0) await this.#flush()
        // Rows that could not be stored are ready again.
        if (this.#ready.length === 0) this.#isUnavailable = false
      } catch (error) {
        if (!isUnavailable(error) || !this.#isPatient) throw error
        if (!this.#isUnavailable) this.#options.warn(`A database is unavailable; rows wait. ${error.message}`)
        this.#isUnavailable = true
        await pauseUntil(tickMs, () => {})
      }
      const pauseMs = Math.min(this.#dueInMs(), this.#tickedAtMs + tickMs - performance.now())
      if (pauseMs > 0 && this.#isPatient && !(this.#isClosing && this.#rows === 0))
        await pauseUntil(pauseMs, (wake) => {
          this.#wake = wake
        })
    }
  }

  /**
   * Rows that are added afterwards get `retry`. `run` ends when each row has a result.
   * @param isPatient whether rows of accounts that other writers have wait as before; otherwise they get `retry`
   */
  close(isPatient = false): void {
    this.#isClosing = true
    this.#isPatient &&= isPatient
    this.#wake()
  }

  #makeReady(entry: Entry): void {
    this.#ready.push(entry)
    this.#readyBytes += entry.row.bytes.length
  }

  #setReady(entries: Entry[]): void {
    this.#ready = entries
    this.#readyBytes = entries.reduce((sum, { row }) => sum + row.bytes.length, 0)
  }

  #wait(entry: Entry): void {
    const { accountId } = entry.row
    entry.sinceMs = performance.now()
    const waiting = this.#waiting.get(accountId) ?? { entries: [], sinceMs: entry.sinceMs }
    this.#waiting.set(accountId, waiting)
    if (entry.batch.waitMs > 0) {
      keepAlone(entry.row)
      waiting.entries.push(entry)
    } else this.#settle(entry.batch, entry.index, otherWriter)
  }

  #settle(batch: Batch, index: number, result: RowResult): void {
    const row = batch.rows[index]
    if (!row || batch.results[index]) return
    this.#rows -= 1
    this.#options.onResult?.(row.resource, result.result)
    if (result.reason === undefined) {
      this.#hold(-1, -row.bytes.length)
      batch.rows[index] = undefined
    } else {
      keepAlone(row)
      batch.kept.rows += 1
      batch.kept.bytes += row.bytes.length
    }
    batch.settle(index, result)
  }

  #hold(rows: number, bytes: number): void {
    this.held.rows += rows
    this.held.bytes += bytes
  }

  /** @returns milliseconds until the next flush, at most 0 if it is due */
  #dueInMs(): number {
    if (this.#ready.length === 0) return Number.POSITIVE_INFINITY
    if (this.#isClosing || this.#ready.length >= flushMax.rows || this.#readyBytes >= flushMax.bytes) return 0
    return this.#flushAtMs - performance.now()
  }

  async #tick(): Promise<void> {
    this.#tickedAtMs = performance.now()
    await this.#release(await this.#store.claims.readWishes())
    await this.#release([...this.#claimed].flatMap(([id, usedAtMs]) => (isOver(usedAtMs, idleMs) ? [id] : [])))
    if (this.#waiting.size === 0) return
    const claimed = await this.#claim([...this.#waiting.keys()])
    const reported = new Map<string, string[]>()
    for (const [accountId, waiting] of this.#waiting) {
      if (claimed.has(accountId)) {
        this.#waiting.delete(accountId)
        for (const entry of waiting.entries) this.#makeReady(entry)
        continue
      }
      if (waiting.sinceMs !== undefined && isOver(waiting.sinceMs, reportMs)) {
        waiting.sinceMs = undefined
        const holder = this.#store.claims.holderOf(accountId)
        const ids = reported.get(holder)
        if (ids) ids.push(accountId)
        else reported.set(holder, [accountId])
      }
      for (const { batch, index, sinceMs } of waiting.entries)
        if (isOver(sinceMs, batch.waitMs)) this.#settle(batch, index, otherWriter)
        else if (!this.#isPatient) this.#settle(batch, index, feedIsEnding)
      waiting.entries = waiting.entries.filter(hasNoResult)
    }
    for (const [holder, ids] of reported) {
      const shown = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? `, … (${ids.length})` : ''}`
      this.#options.warn(`Rows wait for ${holder}, which has their accounts: ${shown}.`)
    }
  }

  async #claim(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    const claimed = await this.#store.claims.claim(accountIds)
    const nowMs = performance.now()
    for (const id of claimed) this.#claimed.set(id, nowMs)
    return claimed
  }

  async #release(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return
    await this.#store.claims.release(accountIds)
    for (const id of accountIds) this.#claimed.delete(id)
  }

  async #flush(): Promise<void> {
    const startedAtMs = performance.now()
    this.#startedAtMs = startedAtMs
    const accountIds = new Set<string>()
    for (const { row } of this.#ready) {
      accountIds.add(row.accountId)
      if (accountIds.size === flushMax.accounts) break
    }
    const entries = this.#take(accountIds, await this.#claim([...accountIds]))
    if (entries.length === 0) return
    this.#storing = entries
    try {
      const rows = entries.map(({ row }) => row)
      const results = await this.#store.flush(rows)
      this.#store.claims.lost.throwIfAborted()
      for (const [at, { batch, index }] of entries.entries()) {
        const result = results[at]
        if (result && result.result !== 'retry') this.#settle(batch, index, result)
      }
      this.#measure(rows, performance.now() - startedAtMs)
    } finally {
      // After a failure these are all rows, else the rows of accounts that the store has released since the claim.
      const left = entries.filter(hasNoResult)
      if (left.length > 0) this.#setReady([...left, ...this.#ready])
      this.#storing = []
      const { flushMs } = this.#options
      const nowMs = performance.now()
      for (const id of accountIds) if (this.#claimed.has(id)) this.#claimed.set(id, nowMs)
      const pauseMaxMs = (flushMs * accountIds.size) / flushMax.accounts
      this.#flushAtMs = Math.max(startedAtMs + flushMs, nowMs + Math.min(nowMs - startedAtMs, pauseMaxMs))
    }
  }

  #measure(rows: readonly FeedRow[], ms: number): void {
    const weight = Math.max(1, measuredRowsMin / rows.length)
    const bytes = rows.reduce((sum, row) => sum + row.bytes.length, 0)
    const before = this.#flushed
    this.#flushed = {
      rows: before.rows / 2 + weight * rows.length,
      bytes: before.bytes / 2 + weight * bytes,
      ms: before.ms / 2 + ms,
    }
    this.#options.onFlush?.(ms / 1_000)
  }

  /** Takes the rows of a flush. Rows of accounts that were not claimed begin to wait. */
  #take(asked: ReadonlySet<string>, claimed: ReadonlySet<string>): Entry[] {
    const taken: Entry[] = []
    const left: Entry[] = []
    let bytes = 0
    const rowsMax = Math.min(flushMax.rows, Math.max(measuredRowsMin, flushMaxMs / this.rowMs))
    for (const entry of this.#ready) {
      const { accountId } = entry.row
      if (claimed.has(accountId) && taken.length < rowsMax && bytes < flushMax.bytes) {
        taken.push(entry)
        bytes += entry.row.bytes.length
      } else if (!asked.has(accountId) || claimed.has(accountId)) left.push(entry)
      else this.#wait(entry)
    }
    this.#setReady(left)
    return taken
  }
}

/** Copies the bytes of a row that is kept longer than other rows: they share 8 KiB of memory. */
function keepAlone(row: { bytes: Buffer }): void {
  row.bytes = Buffer.from(new Uint8Array(row.bytes).buffer)
}

const hasNoResult = ({ batch, index }: Entry): boolean => batch.results[index] === undefined

const isOver = (sinceMs: number, limitMs: number): boolean => performance.now() - sinceMs >= limitMs

/** @param onWake receives a function that ends the pause */
function pauseUntil(ms: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.ceil(ms))
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
