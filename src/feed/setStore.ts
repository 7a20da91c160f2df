import { setImmediate as immediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { fieldNames } from '../import/header.ts'
import { type Input, jsonInput } from '../import/readers/mapping.ts'
import { listMax } from '../import/readers/objects.ts'
import type { RawFields, RowReader } from '../import/readers/rowDecoder.ts'
import { RowError } from '../import/readers/rowError.ts'
import { type ImportName, importNames, importTables } from '../import/resourceNames.ts'
import { decodeRow, readerOf } from '../import/rows.ts'
import { Problem } from '../problem.ts'
import { parseJson } from '../query/exactJson.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import { reasonOf } from '../stores/timing/periodic.ts'
import { Turn } from '../stores/timing/turn.ts'
import { AwaitedClicks } from '../writer/attribution/awaitedClicks.ts'
import { claimAccounts, describeProcess, readWishes, releaseAccounts, wish } from '../writer/fence/claims.ts'
import type { Writer, WriteSession } from '../writer/fence/session.ts'
import { accountsWithUnfinishedWork } from '../writer/journal/accountTasks.ts'
import { type SessionOptions, tryOpenWriteSession, tryWithWriter } from '../writer/openWriter.ts'
import { attributeEarlyConversions } from '../writer/repair/reattribution.ts'
import { recoverImports } from '../writer/repair/recoverAccount.ts'
import { type LookUps, openLookUps, RowBatch, type RowToStore } from '../writer/store/rowBatch.ts'
import { accountsOf } from '../writer/tables/accountKeys.ts'
import { detailOf, type RowOutcome } from '../writer/upserts/rowOutcome.ts'
import { type AccountState, readAccountStates } from './accountState.ts'
import { digestOf, RecentClicks } from './recentClicks.ts'
import { RowNotes } from './rowNotes.ts'
import { type FeedRow, isNeverStored, otherWriter, type RowResult, rejected } from './rows.ts'

/** Time until work of an account is completed again after a failure. */
const completeAgainMs = 60_000

/** Results are final, so each duplicate is compared with the stored row. */
const allCompared = { rows: Number.POSITIVE_INFINITY }

/** A set, and filters of what is stored of its accounts. */
interface Opened {
  set: WriteSession
  lookUps: LookUps & { awaited: AwaitedClicks }
  /** Empty, between two flushes: its memory is reused. */
  batch?: RowBatch | undefined
}

type SetStoreOptions = Pick<SessionOptions, 'onMessage' | 'statementWindowMs' | 'feed'>

/** Stores the rows of all accounts together, under the lease of one process. It has the lease while it has an account. */
export class SetStore {
  readonly #stores: Writer['stores']
  readonly #options: SetStoreOptions
  readonly #lost = new AbortController()
  readonly #closed = new AbortController()
  #opened: Opened | undefined
  readonly #recent = new RecentClicks()
  /** Keys of campaigns that exist. */
  readonly #campaigns = new LRUCache<string, true>({ max: 20_000 })
  /** By account that could not be claimed: the lease of the process that has it. */
  readonly #holders = new Map<string, string | null>()
  /** Of the claimed accounts. */
  readonly #states = new Map<string, AccountState>()
  /** Whether a flush has failed. */
  #isInterrupted = false
  /** Claimed accounts whose task `attribute_late_clicks` may be open. */
  readonly #withNewClicks = new Set<string>()
  /** Claimed accounts with stored clicks of erased visitors. */
  readonly #withErasures = new Set<string>()
  /** Until when accounts are not claimed, by `performance.now()`: infinite while a writer of their own completes their work. */
  readonly #notBeforeMs = new Map<string, number>()
  /** When that is tried again for claimed accounts with work that their writer had to leave, such as parts that queries still read. */
  readonly #completeAgainAtMs = new Map<string, number>()
  /** Resolves when no such writer is open. */
  #completion = Promise.resolve()

  constructor(stores: Writer['stores'], options: SetStoreOptions) {
    this.#stores = stores
    this.#options = options
  }

  /** Aborts, with LeaseLost, when another process may have taken over: nothing is acknowledged afterwards. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * Claims accounts, and reads what decides whether their rows are stored. Claiming a claimed account again changes nothing.
   * @returns the accounts that are claimed afterwards; another writer has each other one, or wants it
   * @throws LeaseLost
   */
  async claim(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#opened) await this.#completeAlone(this.#opened.set, [...this.#withErasures])
    // An import of an account ends without its claim, so the state of a refused account is read again.
    const isStored = (id: string) => this.#states.has(id) && this.#states.get(id)?.refusal === undefined
    const wanted = accountIds.filter((id) => !isStored(id) && isOver(this.#notBeforeMs.get(id)))
    if (wanted.length > 0) await this.#claim(wanted)
    return new Set(accountIds.filter((id) => this.#states.has(id)))
  }

  async #claim(accountIds: readonly string[]): Promise<void> {
    const opened = await this.#open()
    if (!opened) return
    const { set, lookUps } = opened
    const wished = this.#options.feed === 'feed-demo' ? [] : [...this.#holders.keys()]
    const claims = await claimAccounts(set, accountIds, wished)
    for (const filter of [lookUps.clicks, lookUps.events, lookUps.awaited]) filter.claimed(claims)
    const claimed = accountsOf(claims)
    const refused = new Set(accountIds)
    for (const id of claimed) for (const ids of [refused, this.#holders]) ids.delete(id)
    if (refused.size > 0) for (const [id, { process }] of await wish(set, [...refused])) this.#holders.set(id, process)
    const busy = await this.#recover(set, claimed)
    const states = await readAccountStates(
      set,
      claimed.filter((id) => !busy.has(id)),
    )
    for (const [id, state] of states) this.#states.set(id, state)
    await this.#closeIfIdle()
  }

  /** @returns who has an account that could not be claimed */
  holderOf(accountId: string): string {
    return describeProcess(this.#holders.get(accountId) ?? null)
  }

  /** @returns undefined while a migration runs @throws MigrationError when this version must not write afterwards */
  async #open(): Promise<Opened | undefined> {
    this.#lost.signal.throwIfAborted()
    if (this.#opened) return this.#opened
    const set = await tryOpenWriteSession(this.#stores, { feed: 'feed', ...this.#options, signal: this.#lost.signal })
    if (!set) return undefined
    const { lost } = set.lease
    lost.addEventListener('abort', () => this.#lost.abort(lost.reason), { once: true })
    const lookUps = { ...openLookUps(set, allCompared, 'meanwhile'), awaited: new AwaitedClicks(set) }
    this.#opened = { set, lookUps }
    return this.#opened
  }

  /** Completes interrupted work of accounts. @returns accounts that are released, since their work needs a writer of their own */
  async #recover(set: WriteSession, accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (accountIds.length === 0) return new Set()
    const unfinished = await set.retry('looking for interrupted work', () =>
      accountsWithUnfinishedWork(set.stores.postgres, accountIds),
    )
    const other = new Set(unfinished.filter(({ isImport }) => !isImport).map(({ accountId }) => accountId))
    for (const id of accountIds) if (!other.has(id)) this.#completeAgainAtMs.delete(id)
    const alone = [...other].filter((id) => isOver(this.#completeAgainAtMs.get(id)))
    const imports = unfinished.filter(({ isImport }) => isImport).map(({ accountId }) => accountId)
    try {
      if (imports.length > 0) await recoverImports(set, imports)
    } catch (error) {
      if (error instanceof LeaseLost || isUnavailable(error)) throw error
      this.#options.onMessage(`Completing imports together failed; completing each account alone. ${reasonOf(error)}`)
      alone.push(...imports)
    }
    await this.#completeAlone(set, alone)
    return new Set(alone)
  }

  /** Releases accounts, and opens a writer of each, which completes its work. */
  async #completeAlone(set: WriteSession, accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return
    await this.#releaseFrom(set, accountIds)
    for (const accountId of accountIds) {
      this.#notBeforeMs.set(accountId, Number.POSITIVE_INFINITY)
      this.#completion = this.#completion.then(() => this.#complete(accountId))
    }
  }

  async #complete(accountId: string): Promise<void> {
    const options = {
      onMessage: this.#options.onMessage,
      signal: AbortSignal.any([this.#lost.signal, this.#closed.signal]),
    }
    try {
      const isOpened = await tryWithWriter(this.#stores, accountId, options, async () => true)
      if (isOpened) this.#completeAgainAtMs.set(accountId, performance.now() + completeAgainMs)
      this.#notBeforeMs.delete(accountId)
    } catch (error) {
      if (options.signal.aborted) return
      this.#options.onMessage(
        `Account ${accountId}: completing interrupted work failed; retrying in a minute. ${reasonOf(error)}`,
      )
      this.#notBeforeMs.set(accountId, performance.now() + completeAgainMs)
    }
  }

  /** @returns the claimed accounts that other writers wait for, all of them while a migration waits, or whose work is to be completed */
  async readWishes(): Promise<readonly string[]> {
    await this.#closeIfIdle()
    const wanted = this.#opened ? await readWishes(this.#opened.set) : []
    const again = [...this.#completeAgainAtMs].filter(([id, atMs]) => this.#states.has(id) && isOver(atMs))
    return [...new Set([...wanted, ...again.map(([id]) => id)])]
  }

  /** Gives accounts to the next writer, once no statement of this process is left. */
  async release(accountIds: readonly string[]): Promise<void> {
    if (!this.#opened) return
    const { set } = this.#opened
    await this.#repair(set)
    await this.#completeTasks(set, accountIds).catch((error) => {
      if (error instanceof LeaseLost) throw error
      this.#options.onMessage(
        `Attributing conversions failed; the next writer of their accounts does it. ${reasonOf(error)}`,
      )
    })
    await this.#releaseFrom(set, accountIds)
    await this.#closeIfIdle()
  }

  async #releaseFrom(set: WriteSession, accountIds: readonly string[]): Promise<void> {
    await releaseAccounts(set, accountIds)
    for (const id of accountIds)
      for (const ofClaims of [this.#states, this.#withNewClicks, this.#withErasures]) ofClaims.delete(id)
  }

  /** A flush attributes what waits for its clicks; the complete pass of `attributeEarlyConversions` proves that nothing is left. */
  async #completeTasks(set: WriteSession, accountIds: readonly string[]): Promise<void> {
    const open = accountIds.filter((id) => this.#withNewClicks.has(id))
    if (open.length > 0) await attributeEarlyConversions(set, open)
    for (const id of open) this.#withNewClicks.delete(id)
  }

  /** A migration waits until the lease is released. */
  async #closeIfIdle(): Promise<void> {
    if (this.#states.size > 0) return
    const opened = this.#opened
    this.#opened = undefined
    await opened?.set.close()
  }

  /**
   * Stores rows of claimed accounts.
   * @param rows in the order in which their sources gave them
   * @returns the result of each row; rows of accounts that are not claimed get `retry`
   * @throws Problem `unavailable` when a database stays unavailable: any of the rows may be stored; LeaseLost
   */
  async flush(rows: readonly FeedRow[]): Promise<readonly RowResult[]> {
    if (!this.#opened) return rows.map(() => otherWriter)
    const opened = this.#opened
    const { set, batch = new RowBatch(set, opened.lookUps) } = opened
    opened.batch = undefined
    await this.#repair(set)
    /** Indexes of the rows of the batch. */
    const added: number[] = []
    const results: RowResult[] = rows.map(() => otherWriter)
    /** Indexes of clicks by digest, and of the clicks that repeat one of them literally. */
    const [clicks, repeated] = [new Map<string, number>(), new Map<number, number>()]
    const [nowMs, rowNotes] = [Date.now(), new RowNotes()]
    const turn = new Turn()
    for (const [index, row] of rows.entries()) {
      if (turn.isOver(row.bytes.length)) await immediate()
      const state = this.#states.get(row.accountId)
      if (!state) continue
      try {
        const decoded = decodeFeedRow(row, state)
        const digest = decoded.table === 'clicks' ? digestOf(row) : ''
        const first = clicks.get(digest)
        if (this.#recent.has(digest)) results[index] = duplicate
        else if (first !== undefined) repeated.set(index, first)
        if (first !== undefined || results[index] === duplicate) continue
        if (digest !== '') clicks.set(digest, index)
        added.push(index)
        batch.add(decoded)
        rowNotes.add(index, row.accountId, decoded, nowMs)
      } catch (error) {
        if (!(error instanceof RowError)) throw error
        results[index] = rejected(error.message)
      }
    }
    this.#isInterrupted = true
    const { outcomes, toErase } = await batch.store(nowMs)
    for (const id of toErase) this.#withErasures.add(id)
    this.#isInterrupted = false
    opened.batch = batch
    const notesOf = await rowNotes.complete(set, this.#campaigns).catch(whenUnavailable(new Map<number, string[]>()))
    for (const [position, outcome] of outcomes.entries()) {
      const index = added[position] as number
      const { accountId, resource } = rows[index] as FeedRow
      const notes = notesOf.get(index)
      const result = resultOf(resource, outcome)
      results[index] = notes && !isNeverStored(result) ? { ...result, notes } : result
      if (resource === 'clicks' && outcome === 'inserted') this.#withNewClicks.add(accountId)
    }
    for (const [digest, index] of clicks) if (results[index]?.result !== 'conflict') this.#recent.add(digest)
    for (const [index, first] of repeated)
      results[index] = results[first]?.result === 'conflict' ? results[first] : duplicate
    // The rows are stored, and their results are known; the next claim tries again.
    await this.#completeAlone(set, [...this.#withErasures]).catch(whenUnavailable(undefined))
    return results
  }

  /** Completes a flush that has failed: any of its rows may be stored. */
  async #repair(set: WriteSession): Promise<void> {
    if (!this.#isInterrupted) return
    await set.waitForEarlierStatements()
    this.#completeAgainAtMs.clear()
    await this.#recover(set, [...this.#states.keys()])
    this.#isInterrupted = false
    this.#withNewClicks.clear()
  }

  /** Releases all accounts. What is left then is completed by the next writer. */
  async close(): Promise<void> {
    this.#closed.abort()
    const set = this.#opened?.set
    if (set && !this.#lost.signal.aborted) {
      await this.#repair(set)
        .then(() => this.#completeTasks(set, [...this.#states.keys()]))
        .catch(() => {})
    }
    this.#states.clear()
    await this.#closeIfIdle()
    await this.#completion
  }
}

/** @param atMs by `performance.now()` */
const isOver = (atMs = 0): boolean => atMs <= performance.now()

const isUnavailable = (error: unknown): boolean => error instanceof Problem && error.status === 503

/** @returns a handler of an error that returns a value while a database is unavailable */
function whenUnavailable<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isUnavailable(error)) return value
    throw error
  }
}

/** The two fields that say whose row it is are not fields of a resource. */
const ownFields = ['accountId', 'resource']
const feedInput: Input = { ...jsonInput, namesOptions: false, map: ownFields.map((name) => [name, '']) }

const knownFields = Object.fromEntries(importNames.map((name) => [name, new Set([...ownFields, ...fieldNames(name)])]))

/** Whether the numbers of a row are read exactly, which takes 2 µs each: a row with other fields, or with a long value, is rejected. */
function mayBeValid(resource: ImportName, fields: object): boolean {
  const known = knownFields[resource]
  return Object.entries(fields).every(([name, value]) => known?.has(name) && isShort(value))
}

/** Whether a value is a text, a number, a boolean, or has some of them. */
function isShort(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  const values = Object.values(value)
  return values.length <= listMax && values.every((one) => typeof one !== 'object' || one === null)
}

/** By resource and currency: a reader prepares some kilobytes, which all accounts share. */
const readers = new Map<string, RowReader<RowToStore['row']>>()

/** @throws RowError when the row must not be stored */
function decodeFeedRow(feedRow: FeedRow, state: AccountState): RowToStore {
  const { refusal, currency } = state
  if (refusal !== undefined) throw new RowError(refusal)
  const { accountId, resource, bytes, origin, line } = feedRow
  const read = readers.get(`${resource} ${currency}`) ?? readerOf(resource, currency)
  readers.set(`${resource} ${currency}`, read)
  const fields = parseJson(bytes.toString(), (plain) => mayBeValid(resource, plain as object)) as RawFields
  return decodeRow(resource, read, [fields, feedInput, line], { accountId, ...state }, origin)
}

function resultOf(resource: ImportName, outcome: RowOutcome): RowResult {
  const [field, reason] = [detailOf('conflict', outcome), detailOf('rejected', outcome)]
  if (reason !== undefined) return rejected(reason)
  return field === undefined ? storedResults[outcome as keyof typeof storedResults] : conflictOf(resource, field)
}

/** Shared by all rows: the results of a flush take no memory. */
const storedResults = {
  inserted: { result: 'inserted' },
  updated: { result: 'updated' },
  duplicate: { result: 'duplicate' },
  older: { result: 'older' },
} as const satisfies Record<string, RowResult>
const { duplicate } = storedResults

/** @param field that differs; empty: the id is of a cost that was removed by its age */
function conflictOf(resource: ImportName, field: string): RowResult {
  if (field === '') return { result: 'conflict', reason: 'the id is of a cost that was removed by its age' }
  const isReplaced = ['conversions', 'costs'].includes(importTables[resource])
  const differs = `${field}: differs from the stored row`
  return { result: 'conflict', reason: isReplaced ? `${differs}, whose updatedAt is equal` : differs }
}
