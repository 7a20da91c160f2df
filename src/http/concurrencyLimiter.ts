import type { Problem } from '../problem.ts'
import { whenAborted } from '../stores/timing/whenAborted.ts'

const queueMax = 128

export interface ConcurrencyLimits {
  /** Concurrent slots per account. @param total slots of all accounts, including the wanted ones */
  perAccountMax(total: number): number
  /** Concurrent slots of all accounts; unlimited by default. */
  totalMax?: number
  /** Longest wait for slots, milliseconds; with 0 nothing waits. */
  waitMs: number
  /** Creates the error when the queue is full or the wait is over. @param isOwnLimit whether the account has reached its own limit */
  refuse(isOwnLimit: boolean): Problem
}

interface Account {
  running: number
  /** The slots of queued work in order of arrival; each key is called when its work acquires them. */
  queued: Map<() => void, number>
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

  /** The slots in use. */
  get running(): number {
    return this.#running
  }

  /** Whether an account waits that has no slot, because other accounts use all of them. */
  get isContended(): boolean {
    return [...this.#waiting].some((accountId) => this.#accounts.get(accountId)?.running === 0)
  }

  /**
   * Waits for slots.
   * @param signal ends the wait; when it has aborted before the call, its reason is thrown
   * @returns releases the slots; further calls have no effect
   * @throws Problem of `refuse` when the queue is full or the wait exceeds `waitMs`
   */
  async acquire(accountId: string, signal?: AbortSignal, slots = 1): Promise<() => void> {
    signal?.throwIfAborted()
    const { waitMs, refuse } = this.#limits
    const account = this.#accounts.get(accountId) ?? { running: 0, queued: new Map<() => void, number>() }
    const mayStart = this.#hasSlots(account, slots)
    if (!mayStart && (waitMs === 0 || account.queued.size === queueMax)) {
      throw refuse(this.#exceedsOwn(account, slots))
    }
    this.#accounts.set(accountId, account)
    if (mayStart) this.#take(account, slots)
    else await this.#wait(accountId, account, slots, signal)
    let isReleased = false
    return () => {
      if (!isReleased) this.#release(accountId, account, slots)
      isReleased = true
    }
  }

  /** The first queued work that may start takes the slots; accounts take turns. */
  #release(accountId: string, account: Account, slots: number): void {
    this.#take(account, -slots)
    for (const waitingId of this.#waiting) {
      const waiting = this.#accounts.get(waitingId)
      const [first] = waiting?.queued ?? []
      if (waiting && first && this.#hasSlots(waiting, first[1])) first[0]()
    }
    this.#forgetIdle(accountId, account)
  }

  #hasSlots(account: Account, slots: number): boolean {
    const { totalMax = Number.POSITIVE_INFINITY } = this.#limits
    return !this.#exceedsOwn(account, slots) && this.#running + slots <= totalMax
  }

  #exceedsOwn({ running }: Account, slots: number): boolean {
    return running + slots > this.#limits.perAccountMax(this.#running + slots)
  }

  #take(account: Account, slots: number): void {
    account.running += slots
    this.#running += slots
  }

  #wait(accountId: string, account: Account, slots: number, signal: AbortSignal | undefined): Promise<void> {
    const { waitMs, refuse } = this.#limits
    const { queued } = account
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        removeListener?.()
        queued.delete(start)
        this.#waiting.delete(accountId)
        // At the end: the other waiting accounts come first.
        if (queued.size > 0) this.#waiting.add(accountId)
      }
      const start = () => {
        leave()
        this.#take(account, slots)
        resolve()
      }
      const giveUp = () => {
        leave()
        this.#forgetIdle(accountId, account)
        reject(refuse(this.#exceedsOwn(account, slots)))
      }
      const timer = setTimeout(giveUp, waitMs)
      queued.set(start, slots)
      this.#waiting.add(accountId)
      const removeListener = signal && whenAborted(signal, giveUp)
    })
  }

  #forgetIdle(accountId: string, { running, queued }: Account): void {
    if (running === 0 && queued.size === 0) this.#accounts.delete(accountId)
  }
}
