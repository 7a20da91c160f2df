import { Problem } from '../problem.ts'

/** Limits of concurrent exports: each uses a ClickHouse connection for as long as its client reads. */
const perAccountMax = 2
const totalMax = 12

/** From this number of exports on, the limit per account is 1: six accounts with two each would leave none for others. */
const onePerAccountFrom = totalMax / 2

/** Limits the concurrent exports of this process, per account and in total. */
export class ExportSlots {
  readonly #countByAccount = new Map<string, number>()
  #total = 0

  /**
   * Acquires a slot.
   * @returns releases the slot; further calls have no effect
   * @throws Problem `rate_limited` at the limit of the account, `unavailable` at the limit of the server
   */
  acquire(accountId: string): () => void {
    const count = this.#countByAccount.get(accountId) ?? 0
    const max = this.#total < onePerAccountFrom ? perAccountMax : 1
    if (count >= max) {
      const limit = `Limit of ${perAccountMax} concurrent exports per account reached, or of 1 while the server is busy`
      throw new Problem('rate_limited', `${limit}; retry when one has finished.`, { retryAfterS: 5 })
    }
    if (this.#total >= totalMax) {
      throw new Problem('unavailable', 'Limit of concurrent exports on this server reached; retry later.', {
        retryAfterS: 5,
      })
    }
    this.#countByAccount.set(accountId, count + 1)
    this.#total += 1
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release(accountId)
    }
  }

  #release(accountId: string): void {
    const left = (this.#countByAccount.get(accountId) ?? 1) - 1
    if (left === 0) this.#countByAccount.delete(accountId)
    else this.#countByAccount.set(accountId, left)
    this.#total -= 1
  }
}
