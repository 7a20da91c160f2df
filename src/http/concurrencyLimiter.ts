import type { Problem } from '../problem.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'

const queueMax = 128

export interface ConcurrencyLimits {
  /** Concurrent slots per account, at least 1. */
  perAccountMax: number
  /** Concurrent slots of all accounts; unlimited by default. */
  totalMax?: number
  /** Longest wait for a slot, milliseconds. */
  waitMs: number
  /** Creates the error when the queue is full or the wait is over. */
  refuse(): Problem
}

interface Account {
  running: number
  /** In order of arrival; each is called when it acquires a slot. */
  queued: Set<() => void>
}

/** Limits concurrent work of this process per account and in total; more work is queued for a short time. */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits
  readonly #accounts = new Map<string, Account>()
  /** Accounts with queued work, in the order of their turns. */
  readonly #waiting = new Set<string>()
  #running = 0

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  /** Whether an account waits that has no slot, because other accounts use all of them. */
  get isContended(): boolean {
    return [...this.#waiting].some((accountId) => this.#accounts.get(accountId)?.running === 0)
  }

  /**
   * Waits for a slot. The caller must call `release` once.
   * @param signal ends the wait; when it has aborted before the call, its reason is thrown
   * @throws Problem of `refuse` when the queue is full or the wait exceeds `waitMs`
   */
  async acquire(accountId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const account = this.#accounts.get(accountId) ?? { running: 0, queued: new Set() }
    this.#accounts.set(accountId, account)
    if (this.#hasSlot(account)) {
      this.#start(account)
      return
    }
    if (account.queued.size === queueMax) throw this.#limits.refuse()
    await this.#wait(accountId, account, signal)
  }

  /** Releases a slot. The first queued work that may start acquires it; accounts take turns. */
  release(accountId: string): void {
    const account = this.#accounts.get(accountId)
    if (!account) return
    account.running -= 1
    this.#running -= 1
    for (const waitingId of this.#waiting) {
      const waiting = this.#accounts.get(waitingId)
      const [start] = waiting?.queued ?? []
      if (waiting && start && this.#hasSlot(waiting)) start()
    }
    this.#forgetIdle(accountId, account)
  }

  #hasSlot({ running }: Account): boolean {
    const { perAccountMax, totalMax = Number.POSITIVE_INFINITY } = this.#limits
    return running < perAccountMax && this.#running < totalMax
  }

  #start(account: Account): void {
    account.running += 1
    this.#running += 1
  }

  #wait(accountId: string, account: Account, signal: AbortSignal): Promise<void> {
    const { waitMs, refuse } = this.#limits
    const { queued } = account
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        removeListener()
        queued.delete(start)
        this.#waiting.delete(accountId)
        // At the end: the other waiting accounts come first.
        if (queued.size > 0) this.#waiting.add(accountId)
      }
      const start = () => {
        leave()
        this.#start(account)
        resolve()
      }
      const giveUp = () => {
        leave()
        this.#forgetIdle(accountId, account)
        reject(refuse())
      }
      const timer = setTimeout(giveUp, waitMs)
      queued.add(start)
      this.#waiting.add(accountId)
      const removeListener = whenAborted(signal, giveUp)
    })
  }

  #forgetIdle(accountId: string, { running, queued }: Account): void {
    if (running === 0 && queued.size === 0) this.#accounts.delete(accountId)
  }
}
