import { fairUseFactor } from '../../schema/event.ts'
import { countStoredEvents } from '../query/monthlyCounts.ts'
import type { ClickHouse } from '../stores/cluster/connection.ts'
import { RefreshingCache } from '../stores/refreshingCache.ts'
import { startOfUtcMonth } from '../stores/timing/utcMonth.ts'
import { type AccountKey, keyText } from '../writer/tables/accountKeys.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import { asWriter, openLookUps } from './lookUps.ts'

/** From 2.5 s on, events of other instances are counted again in the background; from 4.5 s on, before the decision. */
const ages = { freshMs: 2_500, staleWhileRevalidateMs: 2_000, staleIfErrorMs: 0, retryMs: 0 }

/** A slow count of one account does not delay the counts of others, and may take as long as a part of events. */
const countLimits = { concurrentMax: 8, timeoutMs: 10_000 }

/** Cached counts; an evicted one is read again. */
const countsMax = 50_000

export interface CountedEvent {
  readonly row: Pick<PixelEvent, 'accountId' | 'receivedAt'>
  /** Absent until `assignCounts` has set it. */
  monthCount?: MonthCount | undefined
}

export type FairUseCeiling = ReturnType<typeof openFairUseCeiling>

/** Limits the events of an account per month: exact for one process, events of other instances are counted within 5 seconds. */
export function openFairUseCeiling(clickhouse: ClickHouse) {
  const lookUpStored = openLookUps<number>(async (wanted, signal) => {
    const months = [...new Set(wanted.map(({ id }) => id))].map(async (id) => {
      const accountIds = wanted.filter((month) => month.id === id).map(({ accountId }) => accountId)
      const options = { label: 'events.ceiling', signal }
      const storedOf = await countStoredEvents(asWriter(clickhouse), accountIds, Number(id), options)
      return accountIds.map((accountId) => ({ accountId, id, value: storedOf.get(accountId) ?? 0 }))
    })
    return (await Promise.all(months)).flat()
  }, countLimits)
  const counts = new RefreshingCache<AccountKey, MonthCount>({
    max: countsMax,
    ...ages,
    isFailing: () => false,
    now: () => performance.now(),
    keyOf: keyText,
    async read(month, known) {
      const count = known ?? new MonthCount(() => counts.expire(keyText(month)))
      const ownBefore = count.own + count.reserved
      const stored = (await lookUpStored(month)) ?? 0
      const { own, reserved, others } = count
      const found = stored - own - reserved
      // Reserved events may be stored already, so `found` can be too low. Only a read without them lowers the count.
      count.others = reserved === 0 && own === ownBefore ? found : Math.max(others, found)
      return count
    },
  })
  return {
    /** Gives each event the count that it belongs to, and reads missing and expired counts, usually none. */
    async assignCounts(events: readonly CountedEvent[]): Promise<void> {
      for (const event of events) event.monthCount = counts.peek(monthOf(event))
      // The events of a month share one read.
      const find = async (event: CountedEvent) => {
        event.monthCount = await counts.find(monthOf(event))
      }
      await Promise.all(events.filter(({ monthCount }) => monthCount === undefined).map(find))
    },
  }
}

/** @returns the UTC month in which an event counts, by its first moment, epoch milliseconds */
const monthOf = ({ row }: CountedEvent) => ({ accountId: row.accountId, id: `${startOfUtcMonth(row.receivedAt)}` })

/** Events of an account in one UTC month. */
export class MonthCount {
  /** Events stored by this process. */
  own = 0
  reserved = 0
  /** Events stored by other instances and earlier processes, at least; copies count until a merge. */
  others = 0
  /** Has the count read again before the account's next event. */
  readonly #expire: () => void

  constructor(expire: () => void) {
    this.#expire = expire
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

  /** It is not known whether the event is stored. */
  markUnknown(): void {
    this.reserved -= 1
    this.#expire()
  }

  /** The event was not sent to the store. */
  release(): void {
    this.reserved -= 1
  }
}
