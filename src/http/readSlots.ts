import { Problem } from '../problem.ts'
import { whenAborted } from '../stores/whenAborted.ts'

/** Limits of an account's queue: its reads, and the wait of each. */
const queueMax = 128
const queueTimeoutMs = 5_000

interface Account {
  running: number
  /** In order of arrival; each is called when it acquires a slot. */
  queued: Set<() => void>
}

/**
 * Limits the concurrent reads per account, so that no account takes all database connections; more reads are queued for
 * a short time. The limit is per process.
 */
export class ConcurrencyLimiter {
  readonly #concurrentMax: number
  readonly #accounts = new Map<string, Account>()

  /** @param concurrentMax concurrent reads per account, at least 1 */
  constructor(concurrentMax: number) {
    this.#concurrentMax = concurrentMax
  }

  /**
   * Waits for a slot. The caller must call `release` once.
   * @param signal ends the wait; when it has aborted before the call, its reason is thrown
   * @throws Problem `rate_limited` when the queue is full or the wait exceeds `queueTimeoutMs`
   */
  async acquire(accountId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const account = this.#accounts.get(accountId) ?? { running: 0, queued: new Set() }
    this.#accounts.set(accountId, account)
    if (account.running < this.#concurrentMax) {
      account.running += 1
      return
    }
    if (account.queued.size === queueMax) throw this.#tooMany()
    await this.#wait(account, signal)
  }

  /** Releases a slot; the first queued read acquires it. */
  release(accountId: string): void {
    const account = this.#accounts.get(accountId)
    if (!account) return
    const [next] = account.queued
    if (next) {
      account.queued.delete(next)
      next()
      return
    }
    account.running -= 1
    if (account.running === 0) this.#accounts.delete(accountId)
  }

  #wait({ queued }: Account, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cleanUp = () => {
        clearTimeout(timer)
        removeListener()
      }
      const start = () => {
        cleanUp()
        resolve()
      }
      const giveUp = () => {
        cleanUp()
        queued.delete(start)
        reject(this.#tooMany())
      }
      const timer = setTimeout(giveUp, queueTimeoutMs)
      queued.add(start)
      const removeListener = whenAborted(signal, giveUp)
    })
  }

  #tooMany(): Problem {
    return new Problem(
      'rate_limited',
      `Limit of ${this.#concurrentMax} concurrent reads per account reached; retry when one has finished.`,
      { retryAfterS: 1 },
    )
  }
}
