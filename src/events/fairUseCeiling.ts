import { LRUCache } from 'lru-cache'
import { fairUseFactor } from '../../schema/event.ts'
import { countStoredEvents } from '../query/monthlyCounts.ts'
import type { QueryTarget } from '../stores/clickhouse/select.ts'
import { atMost } from '../stores/entryLimit.ts'
import { startOfUtcMonth } from '../stores/timing/utcMonth.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'

/** From this age on, events of other instances are counted again in the background; from `ttlMs` on, before the decision. */
const refreshMs = 2_500
const ttlMs = 4_500

/** Cached counts; an evicted one is read again. */
const countsMax = 50_000

export interface CountedEvent {
  readonly row: Pick<PixelEvent, 'accountId' | 'receivedAt'>
  /** Undefined until `readCounts` has found it. */
  count: MonthCount | undefined
}

export type FairUseCeiling = ReturnType<typeof openFairUseCeiling>

/** Limits the events of an account per month: exact for one process, events of other instances are counted within 5 seconds. */
export function openFairUseCeiling(clickhouse: QueryTarget) {
  const countByMonth = new LRUCache<string, MonthCount>(atMost(countsMax))
  return { readCounts }

  /** Gives each event the count that it belongs to, and reads missing and expired counts, usually none. */
  async function readCounts(events: readonly CountedEvent[]): Promise<void> {
    const counts = new Set<MonthCount>()
    for (const event of events) {
      event.count = countOf(event.row.accountId, startOfUtcMonth(event.row.receivedAt))
      counts.add(event.count)
    }
    const nowMs = performance.now()
    const old = [...counts].filter(({ readAtMs }) => nowMs - readAtMs >= refreshMs)
    const unread = old.filter(({ reading }) => !reading)
    for (const monthMs of new Set(unread.map((count) => count.monthMs))) {
      const ofMonth = unread.filter((count) => count.monthMs === monthMs)
      const reading = read(monthMs, ofMonth)
      for (const count of ofMonth) count.reading = reading
      // The error is discarded here; callers that need the count get it below.
      reading.catch(() => {})
    }
    await Promise.all(old.filter(({ readAtMs }) => nowMs - readAtMs >= ttlMs).map(({ reading }) => reading))
  }

  async function read(monthMs: number, counts: readonly MonthCount[]): Promise<void> {
    const startedAtMs = performance.now()
    const ownBefore = counts.map(({ own, reserved }) => own + reserved)
    try {
      const accountIds = counts.map(({ accountId }) => accountId)
      const storedOf = await countStoredEvents(clickhouse, accountIds, monthMs, { label: 'events.ceiling' })
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

  function countOf(accountId: string, monthMs: number): MonthCount {
    const key = `${accountId} ${monthMs}`
    const count = countByMonth.get(key) ?? new MonthCount(accountId, monthMs)
    countByMonth.set(key, count)
    return count
  }
}

/** Events of an account in one UTC month. */
export class MonthCount {
  readonly accountId: string
  /** The month's first moment, epoch milliseconds. */
  readonly monthMs: number
  /** Events stored by this process. */
  own = 0
  reserved = 0
  /** Events stored by other instances and earlier processes, at least; copies count until a merge. */
  others = 0
  /** By the monotonic clock. */
  readAtMs = Number.NEGATIVE_INFINITY
  reading: Promise<void> | undefined

  constructor(accountId: string, monthMs: number) {
    this.accountId = accountId
    this.monthMs = monthMs
  }

  /** Reserves one event. @param clickAllowance tracked clicks per month of the subscription plan @returns false at the ceiling */
  reserve(clickAllowance: number): boolean {
    if (this.others + this.own + this.reserved >= fairUseFactor * clickAllowance) return false
    this.reserved += 1
    return true
  }

  /** The reserved event is stored. */
  confirm(): void {
    this.reserved -= 1
    this.own += 1
  }

  /** It is not known whether the event is stored: the count is read again before the account's next event. */
  cancel(): void {
    this.reserved -= 1
    this.readAtMs = Number.NEGATIVE_INFINITY
  }

  /** The event was not sent to the store. */
  release(): void {
    this.reserved -= 1
  }
}
