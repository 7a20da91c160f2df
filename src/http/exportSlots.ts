import { Problem } from '../problem.ts'

/** Limits of concurrent exports: each uses a ClickHouse connection for as long as its client reads. */
const perAccountMax = 2
const totalMax = 12

/** From this number of exports on, the limit per account is 1: six accounts with two each would leave none for others. */
const onePerAccountFrom = totalMax / 2

/** Limits the concurrent exports of this process, per account and in total. */
export class ExportSlots {
  /** One for each export. */
  readonly #slots = new Set<{ accountId: string }>()

  /**
   * Acquires a slot.
   * @returns releases the slot; further calls have no effect
   * @throws Problem `rate_limited` at the limit of the account, `unavailable` at the limit of the server
   */
  acquire(accountId: string): () => void {
    const count = [...this.#slots].filter((slot) => slot.accountId === accountId).length
    const max = this.#slots.size < onePerAccountFrom ? perAccountMax : 1
    if (count >= max) {
      const limit = `Limit of ${perAccountMax} concurrent exports per account reached, or of 1 while the server is busy`
      throw new Problem('rate_limited', `${limit}; retry when one has finished.`, { retryAfterS: 5 })
    }
    if (this.#slots.size >= totalMax) {
      const message = 'Limit of concurrent exports on this server reached; retry later.'
      throw new Problem('unavailable', message, { retryAfterS: 5 })
    }
    const slot = { accountId }
    this.#slots.add(slot)
    return () => this.#slots.delete(slot)
  }
}
