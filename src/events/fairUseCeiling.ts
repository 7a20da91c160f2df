import { LRUCache } from 'lru-cache'
import { fairUseFactor } from '../../schema/event.ts'
import { countStoredEvents } from '../query/countMonthlyEvents.ts'
import type { QueryTarget } from '../stores/clickhouse/select.ts'

/** Reservation of one event below the ceiling of its account. */
export interface Reservation {
  confirm(): void
  /** It is not known whether the event is stored: the count is read again before the account's next event. */
  cancel(): void
  /** The event was not sent to the store. */
  release(): void
}

/** An account in one UTC month. */
export interface AccountMonth {
  accountId: string
  /** The month's first moment, epoch milliseconds. */
  monthMs: number
}

/** From this age on, events of other instances are counted again in the background; from `ttlMs` on, before the decision. */
const refreshMs = 2_500
const ttlMs = 4_500

/** Cached counts; an evicted one is read again. */
const countsMax = 50_000

interface Count extends AccountMonth {
  /** Events stored by this process. */
  own: number
  reserved: number
  /** Events stored by other instances and earlier processes, at least; copies count until a merge. */
  others: number
  /** By the monotonic clock; undefined before the first read. */
  readAtMs: number | undefined
  reading: Promise<void> | undefined
  /** Shared by all events of the month; it holds no state. */
  reservation: Reservation
}

/** Limits the events of an account per month: exact for one process, events of other instances are counted within 5 seconds. */
export class FairUseCeiling {
  readonly #clickhouse: QueryTarget
  readonly #counts = new LRUCache<string, Count>({ max: countsMax })

  constructor(clickhouse: QueryTarget) {
    this.#clickhouse = clickhouse
  }

  /** Reads missing and expired counts, usually none. @throws Problem `unavailable`, `query_timeout` */
  async prepare(accountMonths: Iterable<AccountMonth>): Promise<void> {
    const counts = new Set([...accountMonths].map((accountMonth) => this.#countOf(accountMonth)))
    const nowMs = performance.now()
    const ageOf = ({ readAtMs }: Count) => (readAtMs === undefined ? Number.POSITIVE_INFINITY : nowMs - readAtMs)
    const old = [...counts].filter((count) => ageOf(count) >= refreshMs)
    const unread = old.filter(({ reading }) => !reading)
    for (const monthMs of new Set(unread.map((count) => count.monthMs))) {
      const ofMonth = unread.filter((count) => count.monthMs === monthMs)
      const reading = this.#read(monthMs, ofMonth)
      for (const count of ofMonth) count.reading = reading
      // The error is discarded here; callers that need the count get it below.
      reading.catch(() => {})
    }
    await Promise.all(old.filter((count) => ageOf(count) >= ttlMs).map(({ reading }) => reading))
  }

  /** Reserves one event; undefined at the ceiling. @param clickAllowance tracked clicks per month of the subscription plan */
  reserve(accountMonth: AccountMonth, clickAllowance: number): Reservation | undefined {
    const count = this.#countOf(accountMonth)
    if (count.others + count.own + count.reserved >= fairUseFactor * clickAllowance) return undefined
    count.reserved += 1
    return count.reservation
  }

  async #read(monthMs: number, counts: readonly Count[]): Promise<void> {
    const startedAtMs = performance.now()
    const ownBefore = counts.map(({ own, reserved }) => own + reserved)
    try {
      const accountIds = counts.map(({ accountId }) => accountId)
      const storedOf = await countStoredEvents(this.#clickhouse, accountIds, monthMs, { label: 'events.ceiling' })
      for (const [index, count] of counts.entries()) {
        const { own, reserved, others } = count
        const found = (storedOf.get(count.accountId) ?? 0) - own - reserved
        // Reserved events may be stored already, so `found` can be too low. Only a read without them lowers the count.
        const isExact = reserved === 0 && own === ownBefore[index]
        count.others = isExact ? found : Math.max(others, found)
        count.readAtMs = startedAtMs
      }
    } finally {
      for (const count of counts) count.reading = undefined
    }
  }

  #countOf({ accountId, monthMs }: AccountMonth): Count {
    const key = `${accountId} ${monthMs}`
    const cached = this.#counts.get(key)
    if (cached) return cached
    const reservation: Reservation = {
      confirm() {
        count.reserved -= 1
        count.own += 1
      },
      cancel() {
        count.reserved -= 1
        count.readAtMs = undefined
      },
      release() {
        count.reserved -= 1
      },
    }
    const count: Count = {
      ...{ accountId, monthMs, own: 0, reserved: 0, others: 0, readAtMs: undefined, reading: undefined },
      reservation,
    }
    this.#counts.set(key, count)
    return count
  }
}
