import { Problem } from '../problem.ts'
import { whenAborted } from '../stores/whenAborted.ts'

/** How many reads of one account wait at most, and for how long. */
const queueMax = 128
const queueTimeoutMs = 5_000

interface Account {
  running: number
  /** In the order of arrival; each is called when its turn comes. */
  queued: Set<() => void>
}

/**
 * Lets each account have a few reads under way at a time, so that none takes all the connections to the stores; the
 * others wait in turn for a moment. It holds for this process.
 */
export class ConcurrencyLimiter {
  readonly #concurrentMax: number
  readonly #accounts = new Map<string, Account>()

  /** @param underWayMax reads of one account at a time, at least 1 */
  constructor(underWayMax: number) {
    this.#concurrentMax = underWayMax
  }

  /**
   * Waits for a turn. Whoever got one gives it back with `end`, once.
   * @param hungUp gives up waiting; its reason is thrown when it has aborted before
   * @throws Problem `rate_limited` when too many wait, or one waited too long
   */
  async acquire(accountId: string, hungUp: AbortSignal): Promise<void> {
    hungUp.throwIfAborted()
    const account = this.#accounts.get(accountId) ?? { running: 0, queued: new Set() }
    this.#accounts.set(accountId, account)
    if (account.running < this.#concurrentMax) {
      account.running += 1
      return
    }
    if (account.queued.size === queueMax) throw this.#tooMany()
    await this.#wait(account, hungUp)
  }

  /** Gives a turn back: the next one in line has it, or nobody. */
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

  #wait({ queued: waiting }: Account, hungUp: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        forget()
      }
      const begin = () => {
        leave()
        resolve()
      }
      const giveUp = () => {
        leave()
        waiting.delete(begin)
        reject(this.#tooMany())
      }
      const timer = setTimeout(giveUp, queueTimeoutMs)
      waiting.add(begin)
      const forget = whenAborted(hungUp, giveUp)
    })
  }

  #tooMany(): Problem {
    return new Problem(
      'rate_limited',
      `An account may have ${this.#concurrentMax} reads under way at a time; wait for answers before you ask more.`,
      { retryAfterS: 1 },
    )
  }
}
