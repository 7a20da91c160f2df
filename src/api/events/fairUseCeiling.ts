import { LRUCache } from 'lru-cache'
import { fairUseFactor } from '../../../schema/event.ts'
import { countStoredEvents } from '../../query/monthlyEvents.ts'
import type { QueryTarget } from '../../stores/clickhouse/select.ts'

/** An account's place under its ceiling, taken by one event until it is stored or fails. */
export interface Reservation {
  /** The event is stored. */
  confirm(): void
  /** It is not confirmed that the event is stored: the count is read again before the account's next event. */
  cancel(): void
}

/** An account in one UTC month. */
export interface AccountMonth {
  accountId: string
  /** The month's first moment, epoch milliseconds. */
  monthMs: number
}

/** From this age on, what others stored is counted again, beside the answer; from `lifeMs` on, before it. */
const refreshMs = 2_500
const ttlMs = 4_500

/** Account-months that are kept in mind; forgetting one costs a look-up. */
const countsMax = 50_000

interface Count extends AccountMonth {
  /** Stored by this process. */
  own: number
  /** About to be. */
  reserved: number
  /** Stored by other instances and earlier processes: at least so many. */
  others: number
  /** By a clock that nobody sets; undefined before the first reading. */
  readAtMs: number | undefined
  reading: Promise<void> | undefined
}

/**
 * Counts the events that an account may still store this month. Exact for one process; what others store shows within
 * 5 seconds.
 */
export class FairUseCeiling {
  readonly #clickhouse: QueryTarget
  readonly #counts = new LRUCache<string, Count>({ max: countsMax })

  constructor(clickhouse: QueryTarget) {
    this.#clickhouse = clickhouse
  }

  /**
   * Makes sure that the counts are known and fresh; for the most part without waiting.
   * @throws Problem `unavailable`, `query_timeout`
   */
  async prepare(accountMonths: readonly AccountMonth[]): Promise<void> {
    const counts = new Set(accountMonths.map((accountMonth) => this.#countOf(accountMonth)))
    const nowMs = performance.now()
    const ageOf = ({ readAtMs }: Count) => (readAtMs === undefined ? Number.POSITIVE_INFINITY : nowMs - readAtMs)
    const old = [...counts].filter((count) => ageOf(count) >= refreshMs)
    const unread = old.filter(({ reading }) => !reading)
    for (const monthMs of new Set(unread.map((count) => count.monthMs))) {
      const ofMonth = unread.filter((count) => count.monthMs === monthMs)
      const reading = this.#read(monthMs, ofMonth)
      for (const count of ofMonth) count.reading = reading
      // A failure shows at the first event that has to wait for a count.
      reading.catch(() => {})
    }
    await Promise.all(old.filter((count) => ageOf(count) >= ttlMs).map(({ reading }) => reading))
  }

  /**
   * Takes a place, to be kept or given back.
   * @param clickAllowance tracked clicks a month of the account's plan
   * @returns undefined when the account is at its ceiling
   */
  reserve(accountMonth: AccountMonth, clickAllowance: number): Reservation | undefined {
    const count = this.#countOf(accountMonth)
    if (count.others + count.own + count.reserved >= fairUseFactor * clickAllowance) return undefined
    count.reserved += 1
    return {
      confirm() {
        count.reserved -= 1
        count.own += 1
      },
      cancel() {
        count.reserved -= 1
        count.readAtMs = undefined
      },
    }
  }

  /** Drops every count: they are read again. */
  forget(): void {
    this.#counts.clear()
  }

  async #read(monthMs: number, counts: readonly Count[]): Promise<void> {
    const askedAtMs = performance.now()
    try {
      const accountIds = counts.map(({ accountId }) => accountId)
      const storedOf = await countStoredEvents(this.#clickhouse, accountIds, monthMs, { label: 'events.ceiling' })
      for (const count of counts) {
        // Our own events of this moment may be among the stored ones or not: others have the rest at least. What they
        // had once they keep, so that a busy moment of ours does not make it less.
        const stored = storedOf.get(count.accountId) ?? 0
        count.others = Math.max(count.others, stored - count.own - count.reserved)
        count.readAtMs = askedAtMs
      }
    } finally {
      for (const count of counts) count.reading = undefined
    }
  }

  #countOf({ accountId, monthMs }: AccountMonth): Count {
    const key = `${accountId} ${monthMs}`
    const known = this.#counts.get(key)
    if (known) return known
    const fresh = { accountId, monthMs, own: 0, reserved: 0, others: 0, readAtMs: undefined, reading: undefined }
    this.#counts.set(key, fresh)
    return fresh
  }
}
