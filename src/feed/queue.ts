import { Problem } from '../problem.ts'
import { type FeedRow, otherWriter, type RowResult } from './rows.ts'
import type { SetStore } from './setStore.ts'

/** What stores the rows: one process uses it, one call at a time. */
export type RowStore = Pick<SetStore, 'lost' | 'claim' | 'readWishes' | 'release' | 'flush'>

/** Limits of one flush; characters of the rows as they were sent. */
const flushMax = { rows: 50_000, characters: 30 << 20, accounts: 5_000 }
/** Limits of all rows that wait or are being stored: sources that can refuse rows refuse them beyond. */
const waitingMax = { rows: 100_000, characters: 128 << 20 }
/** From the start of one flush to the start of the next one, unless storing takes longer. */
const intervalMaxMs = 10_000
/** Between two looks at the wishes of other writers, and between two attempts to claim an account. */
const tickMs = 1_000
/** A claimed account without rows is released after this time. */
const idleMs = 60_000

/** Rows that a source gives together, and their results. */
export class Batch {
  /** Undefined once stored: the other rows of a batch may wait for a minute. */
  readonly rows: (FeedRow | undefined)[]
  /** By the index of the row; undefined until it is known. */
  readonly results: (RowResult | undefined)[]
  /** How long a row waits while another writer has its account, milliseconds; it then gets `retry`. */
  readonly waitMs: number
  readonly addedAtMs = performance.now()
  /** Resolves when each row has a result. */
  readonly done: Promise<void>
  #left: number
  #resolve: () => void = () => {}

  constructor(rows: readonly FeedRow[], waitMs: number) {
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
    if (!('reason' in result)) this.rows[index] = undefined
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

export interface QueueOptions {
  /** Shortest time from the start of one flush to the start of the next one, milliseconds. */
  flushMs: number
  /** Called after each flush with its duration. */
  onFlush?: (seconds: number) => void
  warn: (line: string) => void
}

/** Rows of all sources until they are stored, and the loop that stores them. The rows of an account keep their order. */
export class RowQueue {
  readonly #store: RowStore
  readonly #options: QueueOptions
  /** Called when an account that another writer had is claimed: rows that got `retry` may be added again. */
  onFree: (accountId: string) => void = () => {}
  #ready: Entry[] = []
  /** Rows of accounts that another writer has, by account; none if their sources do not wait. */
  readonly #waiting = new Map<string, Entry[]>()
  /** Entries of the flush that is running. */
  #storing: readonly Entry[] = []
  /** When a row of each claimed account was last stored, by `performance.now()`. */
  readonly #claimed = new Map<string, number>()
  #rows = 0
  #characters = 0
  #readyCharacters = 0
  #flushedAtMs = Number.NEGATIVE_INFINITY
  #flushTookMs = 0
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

  get characters(): number {
    return this.#characters
  }

  get claimedAccounts(): number {
    return this.#claimed.size
  }

  get oldestAgeMs(): number {
    const first = [this.#storing[0], this.#ready[0], ...Array.from(this.#waiting.values(), ([entry]) => entry)]
    const addedAtMs = first.map((entry) => entry?.batch.addedAtMs ?? Number.POSITIVE_INFINITY)
    return Math.max(0, performance.now() - addedAtMs.reduce((one, other) => Math.min(one, other)))
  }

  /** Whether rows of the account wait for another writer. */
  isWaiting(accountId: string): boolean {
    return this.#waiting.has(accountId)
  }

  /** @param characters of further rows that are being received */
  isFull(characters = 0): boolean {
    return this.#rows >= waitingMax.rows || this.#characters + characters >= waitingMax.characters
  }

  add(rows: readonly FeedRow[], waitMs: number): Batch {
    const batch = new Batch(rows, waitMs)
    for (const [index, row] of rows.entries()) {
      const entry = { batch, index, row, sinceMs: batch.addedAtMs }
      this.#rows += 1
      this.#characters += row.text.length
      if (this.#isClosing) this.#settle(entry, { result: 'retry', reason: 'the feed is ending' })
      else if (this.isWaiting(row.accountId)) this.#wait(entry)
      else this.#makeReady(entry)
    }
    this.#wake()
    return batch
  }

  /** Gives the rows of a batch that have no result `retry`. Those that are being stored may still be stored. */
  cancel(batch: Batch): void {
    if (batch.isDone) return
    for (const [index, row] of batch.rows.entries()) {
      if (!row) continue
      const isWaiting = this.isWaiting(row.accountId)
      this.#settle({ batch, index, row }, isWaiting ? otherWriter : { result: 'retry', reason: 'is not stored yet' })
    }
    this.#setReady(this.#ready.filter(hasNoResult))
    for (const [accountId, entries] of this.#waiting) this.#waiting.set(accountId, entries.filter(hasNoResult))
  }

  /** Resolves when fewer rows than this wait for a result, and fewer characters than a flush takes; or when the signal aborts. */
  async hasRoom(rows: number, signal: AbortSignal): Promise<void> {
    const isFull = () => this.#rows >= rows || this.#characters >= flushMax.characters
    while (isFull() && !signal.aborted) await pauseUntil(50, () => {})
  }

  /**
   * Stores rows until `close` is called and each row has a result.
   * @throws LeaseLost; Problem `unavailable` only after an impatient `close`
   */
  async run(): Promise<void> {
    while (!(this.#isClosing && this.#rows === 0)) {
      this.#store.lost.throwIfAborted()
      try {
        if (isOver(this.#tickedAtMs, tickMs) || !this.#isPatient) await this.#tick()
        if (this.#dueInMs() <= 0) await this.#flush()
        this.#isUnavailable = false
      } catch (error) {
        if (!(error instanceof Problem && error.status === 503) || !this.#isPatient) throw error
        if (!this.#isUnavailable) this.#options.warn(`A database is unavailable; rows wait. ${error.message}`)
        this.#isUnavailable = true
        await pauseUntil(tickMs, () => {})
      }
      const untilTickMs = this.#tickedAtMs + tickMs - performance.now()
      const pauseMs = Math.min(this.#dueInMs(), untilTickMs)
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
    this.#readyCharacters += entry.row.text.length
  }

  #setReady(entries: Entry[]): void {
    this.#ready = entries
    this.#readyCharacters = entries.reduce((sum, { row }) => sum + row.text.length, 0)
  }

  #wait(entry: Entry): void {
    const { accountId } = entry.row
    const waiting = this.#waiting.get(accountId) ?? []
    this.#waiting.set(accountId, waiting)
    entry.sinceMs = performance.now()
    if (entry.batch.waitMs > 0) waiting.push(entry)
    else this.#settle(entry, otherWriter)
  }

  #settle({ batch, index, row }: Omit<Entry, 'sinceMs'>, result: RowResult): void {
    if (batch.results[index]) return
    this.#rows -= 1
    this.#characters -= row.text.length
    batch.settle(index, result)
  }

  /** @returns milliseconds until the next flush, at most 0 if it is due */
  #dueInMs(): number {
    if (this.#ready.length === 0) return Number.POSITIVE_INFINITY
    const isFull = this.#ready.length >= flushMax.rows || this.#readyCharacters >= flushMax.characters
    if (isFull || this.#isClosing) return 0
    const intervalMs = Math.min(Math.max(this.#options.flushMs, 2 * this.#flushTookMs), intervalMaxMs)
    return this.#flushedAtMs + intervalMs - performance.now()
  }

  async #tick(): Promise<void> {
    this.#tickedAtMs = performance.now()
    await this.#release(await this.#store.readWishes())
    await this.#release([...this.#claimed].flatMap(([id, usedAtMs]) => (isOver(usedAtMs, idleMs) ? [id] : [])))
    if (this.#waiting.size === 0) return
    const claimed = await this.#claim([...this.#waiting.keys()])
    for (const [accountId, entries] of this.#waiting) {
      if (claimed.has(accountId)) {
        this.#waiting.delete(accountId)
        for (const entry of entries) this.#makeReady(entry)
        this.onFree(accountId)
        continue
      }
      for (const entry of entries)
        if (!this.#isPatient || isOver(entry.sinceMs, entry.batch.waitMs)) this.#settle(entry, otherWriter)
      this.#waiting.set(accountId, entries.filter(hasNoResult))
    }
  }

  async #claim(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    const claimed = await this.#store.claim(accountIds)
    const nowMs = performance.now()
    for (const id of claimed) this.#claimed.set(id, nowMs)
    return claimed
  }

  async #release(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return
    await this.#store.release(accountIds)
    for (const id of accountIds) this.#claimed.delete(id)
  }

  async #flush(): Promise<void> {
    const startedAtMs = performance.now()
    const accountIds = new Set<string>()
    for (const { row } of this.#ready) {
      accountIds.add(row.accountId)
      if (accountIds.size === flushMax.accounts) break
    }
    const claimed = await this.#claim([...accountIds])
    const entries = this.#take(accountIds, claimed)
    if (entries.length === 0) return
    this.#flushedAtMs = startedAtMs
    this.#storing = entries
    try {
      const rows = entries.map(({ row }) => row)
      const results = await this.#store.flush(rows)
      this.#store.lost.throwIfAborted()
      for (const [index, entry] of entries.entries()) {
        const result = results[index]
        if (result && result.result !== 'retry') this.#settle(entry, result)
      }
      this.#flushTookMs = performance.now() - startedAtMs
      this.#options.onFlush?.(this.#flushTookMs / 1_000)
    } finally {
      // After a failure these are all rows, else the rows of accounts that the store has released since the claim.
      const left = entries.filter(hasNoResult)
      if (left.length > 0) this.#setReady([...left, ...this.#ready])
      this.#storing = []
    }
  }

  /** Takes the rows of a flush. Rows of accounts that were not claimed begin to wait. */
  #take(asked: ReadonlySet<string>, claimed: ReadonlySet<string>): Entry[] {
    const taken: Entry[] = []
    const left: Entry[] = []
    let characters = 0
    for (const entry of this.#ready) {
      const { accountId, text } = entry.row
      if (claimed.has(accountId) && taken.length < flushMax.rows && characters < flushMax.characters) {
        taken.push(entry)
        characters += text.length
      } else if (!asked.has(accountId) || claimed.has(accountId)) left.push(entry)
      else this.#wait(entry)
    }
    this.#setReady(left)
    return taken
  }
}

function hasNoResult({ batch, index }: Entry): boolean {
  return batch.results[index] === undefined
}

function isOver(sinceMs: number, limitMs: number): boolean {
  return performance.now() - sinceMs >= limitMs
}

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
