import type { ChecksumQuery } from '../../../schema/checksum.ts'
import { onlyRetained, type RetainedFrom, retainedFrom } from '../../query/retained.ts'
import { localRange, type Range, rangeDaysMax } from '../../query/timeRange.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

export type ChecksumResource = 'clicks' | 'conversions' | 'events'

export interface ChecksumPlan {
  resource: ChecksumResource
  accountId: string
  /** Whole UTC days with rows that are retained. */
  range: Range
  retained: RetainedFrom
}

/**
 * Builds the query plan of checksums; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function planChecksums(
  resource: ChecksumResource,
  query: ChecksumQuery,
  { accountId, retained }: { accountId: string; retained: RetainedRanges },
  nowMs: number,
): ChecksumPlan {
  const { range } = localRange(query, 1, rangeDaysMax, 'A request of checksums', nowMs)
  const retainedMs = { clicks: retained.clicksMs, conversions: 0, events: retained.eventsMs }[resource]
  return {
    resource,
    accountId,
    range: onlyRetained(range, retainedMs),
    retained: retainedFrom(range.fromMs, retainedMs),
  }
}
