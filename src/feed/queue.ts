import { isUnavailable } from '../problem.ts'
import { groupBy } from '../writer/tables/groupBy.ts'
import type { AccountClaims } from './accountClaims.ts'
import { AddedRows, copyBytes, type Entry, type HeldRows, hasNoResult } from './addedRows.ts'
import type { FeedStore } from './feedStore.ts'
import { FlushSpeed, measuredRowsMin } from './flushSpeed.ts'
import { pauseUntil } from './pauseUntil.ts'
import { type FeedRow, notStoredYet, otherWriter, type RejectedRow, type RowResult, rejected } from './rows.ts'

/** What stores the rows: one process uses it, one call at a time. */
export interface RowStore extends Pick<FeedStore, 'flush'> {
  claims: Pick<AccountClaims, 'lost' | 'size' | 'claim' | 'holderOf' | 'readUnneeded' | 'release'>
}

/** Limits of one flush; bytes of the rows as they were sent. */
const flushMax = { rows: 50_000, bytes: 30 << 20, accounts: 5_000 }
/** A flush of more rows than this has no more rows than are expected to be stored within this time. */
const flushMaxMs = 20_000
/** Limits of all rows in memory: sources that can refuse rows refuse them beyond. */
const heldMax = { rows: 100_000, bytes: 128 << 20 }
/** Time between two reads of the requests of other writers, and between two attempts to claim an account. */
const tickMs = 1_000
/** A warning names who has an account once its rows have waited for this time. */
const reportMs = 2_000
/** The result of a row that had to wait when the queue was closed. */
export const feedIsEnding: RowResult = { result: 'retry', reason: 'the feed is ending' }

export interface QueueOptions {
  /**
   * From the start of one flush to the start of the next one, milliseconds. Between them is a pause as long as the flush, at most this
   * time for 5,000 accounts and a share of it for fewer: what a flush does for an account, it then does for more rows.
   */
  flushMs: number
  /** The resource of a row is empty if the row names none. */
  metrics?: { timeFlush(seconds: number): void; countRow(resource: string, result: string): void } | undefined
  warn: (line: string) => void
}

/**
 * Rows of all sources until they are stored, and the loop that stores them. The rows of an account keep their order.
 *
 *   state of a row             | collection | what ends it
 *   ready                      | #ready     | a flush: storing, or waiting if its account is busy; `cancel`: a result
 *   storing                    | #storing   | the end of the flush: a result, or ready after a failure
 *   waiting for another writer | #waiting   | a claim of its account: ready; the end of `waitMs`, or `cancel`: a result
 *   has a result with a reason | AddedRows  | `forget`, once its source has told the reason
 *
 * `held.open` counts the first three states, `held.rows` all of them. A row with another result is in no collection.
 */
export class RowQueue {
  readonly store: RowStore
  readonly #options: QueueOptions
  readonly held: HeldRows = { open: 0, rows: 0, bytes: 0 }
  #ready: Entry[] = []
  #readyBytes = 0
  #storing: { entries: readonly Entry[]; startedAtMs: number } | undefined
  #waiting: Entry[] = []
  /** By account that another writer has: when the first claim failed, by `performance.now()`; infinite once that is reported. */
  readonly #busy = new Map<string, number>()
  readonly speed = new FlushSpeed()
  /** Whether a database was unavailable at the last attempt to store rows. */
  isUnavailable = false
  /** When the next flush may begin, by `performance.now()`. */
  #flushAtMs = Number.NEGATIVE_INFINITY
  #tickedAtMs = performance.now()
  #isClosing = false
  #isPatient = true
  #wake: () => void = () => {}

  constructor(store: RowStore, options: QueueOptions) {
    this.store = store
    this.#options = options
  }

  get oldestAgeMs(): number {
    const nowMs = performance.now()
    const entries = [this.#storing?.entries[0], this.#ready[0], ...this.#waiting]
    return entries.reduce((ageMs, entry) => Math.max(ageMs, nowMs - (entry?.added.addedAtMs ?? nowMs)), 0)
  }

  /** Whether rows of the account wait for another writer. */
  isWaiting(accountId: string): boolean {
    return this.#busy.has(accountId)
  }

  /** @param bytes of further rows that are being received */
  isFull(bytes = 0): boolean {
    return this.held.rows >= heldMax.rows || this.held.bytes + bytes >= heldMax.bytes
  }

  /**
   * @param bytes of further rows that are being received
   * @returns how long a row that is added now waits for its flush, milliseconds: 0 if nothing waits, or before the first flush has ended
   */
  expectedWaitMs(bytes = 0): number {
    const { entries = [], startedAtMs = 0 } = this.#storing ?? {}
    if (entries.length + this.#ready.length === 0) return 0
    const storing = { rows: entries.length, ms: entries.length === 0 ? 0 : performance.now() - startedAtMs }
    return this.speed.expectedMs(storing, { rows: this.#ready.length, bytes })
  }

  /**
   * The source calls `forget` once it has handled the results.
   * @param waitMs how long a row waits while another writer has its account, milliseconds
   */
  add(rows: readonly (FeedRow | RejectedRow)[], waitMs: number): AddedRows {
    const added = new AddedRows(rows, waitMs, this.held)
    for (const [index, row] of rows.entries()) {
      if ('reason' in row) {
        this.#settle({ added, index }, rejected(row.reason))
        continue
      }
      const entry = { added, index, row, sinceMs: 0 }
      if (this.#isClosing) this.#settle(entry, feedIsEnding)
      else if (this.isWaiting(row.accountId)) this.#wait(entry)
      else this.#makeReady(entry)
    }
    this.#wake()
    return added
  }

  /** Gives `retry` to the rows without a result. A running flush may still store its rows. */
  cancel(added: AddedRows): void {
    if (added.isDone) return
    for (const [index, row] of added.rows.entries())
      if (row && 'accountId' in row)
        this.#settle({ added, index }, this.isWaiting(row.accountId) ? otherWriter : notStoredYet)
    this.#setReady(this.#ready.filter(hasNoResult))
    this.#waiting = this.#waiting.filter(hasNoResult)
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
      for (const entry of [...this.#ready, ...this.#waiting]) this.#settle(entry, feedIsEnding)
    }
  }

  async #storeUntilClosed(): Promise<void> {
    while (!(this.#isClosing && this.held.open === 0)) {
      this.store.claims.lost.throwIfAborted()
      try {
        if (isOver(this.#tickedAtMs, tickMs) || !this.#isPatient) await this.#tick()
        if (this.#dueInMs() <= 0) await this.#flush()
        // Rows that could not be stored are ready again.
        if (this.#ready.length === 0) this.isUnavailable = false
      } catch (error) {
        if (!isUnavailable(error) || !this.#isPatient) throw error
        if (!this.isUnavailable) this.#options.warn(`A database is unavailable; rows wait. ${error.message}`)
        this.isUnavailable = true
        await pauseUntil(tickMs, () => {})
      }
      const pauseMs = Math.min(this.#dueInMs(), this.#tickedAtMs + tickMs - performance.now())
      if (pauseMs > 0 && this.#isPatient && !(this.#isClosing && this.held.open === 0))
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
    if (!this.#busy.has(accountId)) this.#busy.set(accountId, entry.sinceMs)
    if (entry.added.waitMs > 0) {
      copyBytes(entry.row)
      this.#waiting.push(entry)
    } else this.#settle(entry, otherWriter)
  }

  #settle({ added, index }: Pick<Entry, 'added' | 'index'>, result: RowResult): void {
    const row = added.settle(index, result)
    if (row) this.#options.metrics?.countRow(row.resource, result.result)
  }

  /** @returns milliseconds until the next flush, at most 0 if it is due */
  #dueInMs(): number {
    if (this.#ready.length === 0) return Number.POSITIVE_INFINITY
    if (this.#isClosing || this.#ready.length >= flushMax.rows || this.#readyBytes >= flushMax.bytes) return 0
    return this.#flushAtMs - performance.now()
  }

  async #tick(): Promise<void> {
    this.#tickedAtMs = performance.now()
    const { claims } = this.store
    await claims.release(await claims.readUnneeded())
    if (this.#busy.size === 0) return
    for (const id of await claims.claim([...this.#busy.keys()])) this.#busy.delete(id)
    const waiting = this.#waiting
    this.#waiting = []
    for (const entry of waiting) {
      if (!this.#busy.has(entry.row.accountId)) this.#makeReady(entry)
      else if (isOver(entry.sinceMs, entry.added.waitMs)) this.#settle(entry, otherWriter)
      else if (this.#isPatient) this.#waiting.push(entry)
      else this.#settle(entry, feedIsEnding)
    }
    const late = [...this.#busy].flatMap(([id, sinceMs]) => (isOver(sinceMs, reportMs) ? [id] : []))
    for (const id of late) this.#busy.set(id, Number.POSITIVE_INFINITY)
    for (const [holder, ids] of groupBy(late, (id) => claims.holderOf(id))) {
      const shown = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? `, … (${ids.length})` : ''}`
      this.#options.warn(`Rows wait for ${holder}, which has their accounts: ${shown}.`)
    }
  }

  async #flush(): Promise<void> {
    const startedAtMs = performance.now()
    const accountIds = new Set<string>()
    for (const { row } of this.#ready) {
      accountIds.add(row.accountId)
      if (accountIds.size === flushMax.accounts) break
    }
    const entries = this.#take(accountIds, await this.store.claims.claim([...accountIds]))
    if (entries.length === 0) return
    this.#storing = { entries, startedAtMs }
    try {
      const rows = entries.map(({ row }) => row)
      const results = await this.store.flush(rows)
      this.store.claims.lost.throwIfAborted()
      for (const [index, entry] of entries.entries()) {
        const result = results[index]
        if (result && result.result !== 'retry') this.#settle(entry, result)
      }
      const ms = performance.now() - startedAtMs
      this.speed.measure(rows, ms)
      this.#options.metrics?.timeFlush(ms / 1_000)
    } finally {
      // After a failure these are all rows, else the rows of accounts that the store has released since the claim.
      this.#setReady([...entries.filter(hasNoResult), ...this.#ready])
      this.#storing = undefined
      const { flushMs } = this.#options
      const nowMs = performance.now()
      const pauseMaxMs = (flushMs * accountIds.size) / flushMax.accounts
      this.#flushAtMs = Math.max(startedAtMs + flushMs, nowMs + Math.min(nowMs - startedAtMs, pauseMaxMs))
    }
  }

  /** Takes the rows of a flush. Rows of accounts that were not claimed begin to wait. */
  #take(asked: ReadonlySet<string>, claimed: ReadonlySet<string>): Entry[] {
    const taken: Entry[] = []
    const left: Entry[] = []
    let bytes = 0
    const rowsMax = Math.min(flushMax.rows, Math.max(measuredRowsMin, flushMaxMs / this.speed.rowMs))
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

const isOver = (sinceMs: number, limitMs: number): boolean => performance.now() - sinceMs >= limitMs
