import { isUnavailable } from '../problem.ts'
import { LeaseLost } from '../stores/postgres/lease.ts'
import { reasonOf } from '../stores/timing/periodic.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'
import { AwaitedClicks } from '../writer/attribution/awaitedClicks.ts'
import {
  claimAccounts,
  describeProcess,
  readRequestedAccounts,
  releaseAccounts,
  requestAccounts,
} from '../writer/fence/claims.ts'
import type { Writer, WriteSession } from '../writer/fence/session.ts'
import { accountsWithUnfinishedWork } from '../writer/journal/accountTasks.ts'
import { type SessionOptions, tryOpenWriteSession, tryWithWriter } from '../writer/openWriter.ts'
import { attributeWaitingConversions } from '../writer/repair/reattribution.ts'
import { recoverImports } from '../writer/repair/recoverAccount.ts'
import { type LookUps, openLookUps } from '../writer/store/rowBatch.ts'
import { accountsOf } from '../writer/tables/accountKeys.ts'
import { type AccountState, readAccountStates } from './accountState.ts'

/** When the work of an account is completed again, after its own writer has left some of it or has failed. */
const inAMinute = () => performance.now() + 60_000

/** A claimed account without rows is released after this time. */
const idleMs = 60_000

/** Results are final, so each duplicate is compared with the stored row. */
const allCompared = { rows: Number.POSITIVE_INFINITY }

/** A session that has accounts, and filters of what is stored of them. */
interface Opened {
  session: WriteSession
  lookUps: LookUps & { awaited: AwaitedClicks }
}

/**
 * What is known of an account; an unknown account is free.
 *
 *   phase   | meaning                                                   | what ends it
 *   free    | this process has not claimed it                           | a claim: claimed, or alone with work for a writer of its own
 *   claimed | its rows can be stored                                    | a release: free; at `retryAtMs`: alone
 *   alone   | released to a writer of its own, which completes its work | the end of that writer: free, or failed after an error
 *   failed  | as free, but not claimed before `retryAtMs`               | a claim, as of a free account
 */
interface Account {
  readonly phase: 'free' | 'claimed' | 'alone' | 'failed'
  /** Of a claimed account. */
  readonly state?: AccountState
  /** When rows of a claimed account were last to be stored, by `performance.now()`. */
  usedAtMs?: number
  /** Whether the task `attribute_late_clicks` of a claimed account may be open. */
  hasNewClicks?: boolean
  /** The lease of the process that had the account when a claim of this process was refused. */
  holder?: string | null
  /** When an account that has work for a writer of its own becomes `alone`, by `performance.now()`; undefined without known work. */
  retryAtMs?: number | undefined
}

export type ClaimOptions = Pick<SessionOptions, 'onMessage' | 'statementWindowMs' | 'feed'>

/** The accounts that a feed has claimed, under the lease of one process. It has the lease while it has an account. */
export class AccountClaims {
  readonly #stores: Writer['stores']
  readonly #options: ClaimOptions
  readonly #loss = new AbortController()
  /** Aborts, with LeaseLost, when another process may have taken over: nothing is acknowledged afterwards. */
  readonly lost: AbortSignal = this.#loss.signal
  readonly #closing = new AbortController()
  readonly #accounts = new Map<string, Account>()
  #opened: Opened | undefined
  /** Whether a flush has failed: any of its rows may be stored. */
  #isInterrupted = false
  /** Resolves when no account is `alone`. */
  #completion = Promise.resolve()

  constructor(stores: Writer['stores'], options: ClaimOptions) {
    this.#stores = stores
    this.#options = options
  }

  /** Number of claimed accounts. */
  get size(): number {
    return this.#idsOf(isClaimed).length
  }

  /** @returns undefined unless the account is claimed */
  stateOf(accountId: string): AccountState | undefined {
    return this.#accounts.get(accountId)?.state
  }

  /** A click of a claimed account was stored. */
  markNewClicks(accountId: string): void {
    this.#accountOf(accountId).hasNewClicks = true
  }

  /** @returns who has an account that could not be claimed */
  holderOf(accountId: string): string {
    return describeProcess(this.#accounts.get(accountId)?.holder ?? null)
  }

  /**
   * Claims accounts, and reads what decides whether their rows are stored. Claiming a claimed account again changes nothing.
   * @returns the accounts that are claimed afterwards; another writer has or requests the others
   * @throws LeaseLost
   */
  async claim(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    await this.#completeDueWork()
    const wanted = accountIds.filter((id) => mayBeClaimed(this.#accounts.get(id)))
    const opened = wanted.length > 0 ? await this.#open() : undefined
    if (opened) await this.#claim(opened, wanted)
    return new Set(accountIds.filter((id) => this.stateOf(id)))
  }

  async #claim({ session, lookUps }: Opened, accountIds: readonly string[]) {
    const requested = this.#options.feed === 'feed-demo' ? [] : this.#idsOf(({ holder }) => holder !== undefined)
    const claims = await claimAccounts(session, accountIds, requested)
    for (const filter of [lookUps.clicks, lookUps.events, lookUps.awaited]) filter.claimed(claims)
    const claimed = new Set(accountsOf(claims))
    const refused = accountIds.filter((id) => !claimed.has(id))
    if (refused.length > 0)
      for (const [id, { holder }] of await requestAccounts(session, refused)) this.#accountOf(id).holder = holder
    for (const id of await this.#recover(session, [...claimed])) claimed.delete(id)
    for (const [id, state] of await readAccountStates(session, [...claimed]))
      this.#enter(id, { phase: 'claimed', state, usedAtMs: performance.now() })
    await this.#closeIfIdle()
  }

  /** @returns undefined while a migration runs @throws MigrationError when this version must not write afterwards */
  async #open(): Promise<Opened | undefined> {
    this.lost.throwIfAborted()
    if (this.#opened) return this.#opened
    const options = { feed: 'feed', ...this.#options, signal: this.lost } as const
    const session = await tryOpenWriteSession(this.#stores, options)
    if (!session) return undefined
    const { lost } = session.lease
    whenAborted(lost, () => this.#loss.abort(lost.reason))
    const lookUps = { ...openLookUps(session, allCompared, 'meanwhile'), awaited: new AwaitedClicks(session) }
    this.#opened = { session, lookUps }
    return this.#opened
  }

  /** Completes interrupted work of accounts. @returns the accounts that are `alone` now */
  async #recover(session: WriteSession, accountIds: readonly string[]): Promise<string[]> {
    if (accountIds.length === 0) return []
    const unfinished = await session.retry('looking for interrupted work', () =>
      accountsWithUnfinishedWork(session.stores.postgres, accountIds),
    )
    const other = new Set(unfinished.filter(({ isImport }) => !isImport).map(({ accountId }) => accountId))
    for (const id of accountIds) if (!other.has(id)) this.#accountOf(id).retryAtMs = undefined
    const alone = [...other].filter((id) => isOver(this.#accountOf(id).retryAtMs))
    const imports = unfinished.filter(({ isImport }) => isImport).map(({ accountId }) => accountId)
    try {
      if (imports.length > 0) await recoverImports(session, imports)
    } catch (error) {
      if (error instanceof LeaseLost || isUnavailable(error)) throw error
      this.#options.onMessage(`Completing imports together failed; completing each account alone. ${reasonOf(error)}`)
      alone.push(...imports)
    }
    await this.#completeAlone(session, alone)
    return alone
  }

  /** No further row of the accounts is stored until their work is completed. */
  async #completeDueWork(): Promise<void> {
    const due = this.#idsOf(({ phase, retryAtMs = Infinity }) => phase === 'claimed' && isOver(retryAtMs))
    if (this.#opened) await this.#completeAlone(this.#opened.session, due)
  }

  /** Releases accounts, and opens a writer of each, which completes its work. */
  async #completeAlone(session: WriteSession, accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return
    await this.#releaseFrom(session, accountIds)
    for (const id of accountIds) {
      this.#enter(id, { phase: 'alone' })
      this.#completion = this.#completion.then(() => this.#complete(id))
    }
  }

  async #complete(accountId: string): Promise<void> {
    const { onMessage } = this.#options
    const signal = AbortSignal.any([this.lost, this.#closing.signal])
    try {
      const options = { onMessage, signal }
      const retryAtMs = await tryWithWriter(this.#stores, accountId, options, async () => inAMinute())
      this.#enter(accountId, { phase: 'free', retryAtMs })
    } catch (error) {
      if (signal.aborted) return
      onMessage(`Account ${accountId}: completing interrupted work failed; retrying in a minute. ${reasonOf(error)}`)
      this.#enter(accountId, { phase: 'failed', retryAtMs: inAMinute() })
    }
  }

  /** @returns the claimed accounts that other writers wait for, or all while a migration waits; and accounts without rows for a minute */
  async readUnneeded(): Promise<readonly string[]> {
    await this.#completeDueWork()
    await this.#closeIfIdle()
    const requested = this.#opened ? await readRequestedAccounts(this.#opened.session) : []
    const idle = this.#idsOf(({ state, usedAtMs = 0 }) => state !== undefined && isOver(usedAtMs + idleMs))
    return [...new Set([...requested, ...idle])]
  }

  /** Gives accounts to the next writer, once no statement of this process is left. */
  async release(accountIds: readonly string[]): Promise<void> {
    const opened = accountIds.length > 0 ? await this.repairedSession() : undefined
    if (!opened) return
    // The repair may have released some of them to writers of their own.
    const left = accountIds.filter((id) => this.#accounts.get(id)?.phase !== 'alone')
    await this.#attributeWaiting(opened, left).catch((error) => {
      if (error instanceof LeaseLost) throw error
      this.#options.onMessage(
        `Attributing conversions failed; the next writer of their accounts does it. ${reasonOf(error)}`,
      )
    })
    await this.#releaseFrom(opened.session, left)
    await this.#closeIfIdle()
  }

  async #releaseFrom(session: WriteSession, accountIds: readonly string[]): Promise<void> {
    await releaseAccounts(session, accountIds)
    for (const id of accountIds) this.#enter(id, { phase: 'free' })
  }

  /** A flush attributes conversions to its clicks; the complete pass of `attributeWaitingConversions` proves that no other one is left. */
  async #attributeWaiting({ session }: Opened, accountIds: readonly string[]): Promise<void> {
    const ids = accountIds.filter((id) => this.#accounts.get(id)?.hasNewClicks)
    if (ids.length > 0) await attributeWaitingConversions(session, ids)
  }

  /** Runs a flush of claimed accounts. The accounts `toErase` become `alone`. After a failure any of the rows may be stored. */
  async whileStoring<Stored extends { toErase: readonly string[] }>(
    accountIds: Iterable<string>,
    store: () => Promise<Stored>,
  ) {
    this.#isInterrupted = true
    try {
      const stored = await store()
      this.#isInterrupted = false
      for (const id of stored.toErase) this.#accountOf(id).retryAtMs = 0
      return stored
    } finally {
      for (const id of accountIds) this.#accountOf(id).usedAtMs = performance.now()
    }
  }

  /** Completes a flush that has failed. @returns undefined if no account is claimed */
  async repairedSession(): Promise<Opened | undefined> {
    if (!this.#opened || !this.#isInterrupted) return this.#opened
    const { session } = this.#opened
    await session.waitForEarlierStatements()
    for (const account of this.#accounts.values()) if (account.state) account.retryAtMs = undefined
    await this.#recover(session, this.#idsOf(isClaimed))
    this.#isInterrupted = false
    for (const account of this.#accounts.values()) account.hasNewClicks = false
    return this.#opened
  }

  /** A migration waits until the lease is released. */
  async #closeIfIdle(): Promise<void> {
    if (this.size > 0) return
    const opened = this.#opened
    this.#opened = undefined
    await opened?.session.close()
  }

  /** Releases all accounts. What is left then is completed by the next writer. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (!this.lost.aborted)
      await this.repairedSession()
        .then((opened) => opened && this.#attributeWaiting(opened, this.#idsOf(isClaimed)))
        .catch(() => {})
    this.#accounts.clear()
    await this.#closeIfIdle()
    await this.#completion
  }

  #accountOf(accountId: string): Account {
    const account = this.#accounts.get(accountId) ?? { phase: 'free' }
    this.#accounts.set(accountId, account)
    return account
  }

  #idsOf(isTrue: (account: Account) => boolean): string[] {
    return [...this.#accounts].flatMap(([id, account]) => (isTrue(account) ? [id] : []))
  }

  #enter(accountId: string, account: Account): void {
    const { retryAtMs = this.#accounts.get(accountId)?.retryAtMs } = account
    if (account.phase === 'free' && retryAtMs === undefined) this.#accounts.delete(accountId)
    else this.#accounts.set(accountId, { ...account, retryAtMs })
  }
}

const isClaimed = ({ phase }: Account): boolean => phase === 'claimed'

/** An import of an account ends without its claim, so the state of a refused account is read again. */
function mayBeClaimed({ phase, state, retryAtMs }: Account = { phase: 'free' }): boolean {
  if (phase === 'claimed') return typeof state?.refusal === 'string'
  return phase === 'free' || (phase === 'failed' && isOver(retryAtMs))
}

/** @param atMs by `performance.now()` */
const isOver = (atMs = 0): boolean => atMs <= performance.now()
