import type { ChecksumQuery } from '../../../schema/checksum.ts'
import type { ListedResource, PlanCaller } from '../../query/readContext.ts'
import { onlyRetained, type RetainedFrom, retainedFrom, retainedMsOf } from '../../query/retained.ts'
import { localRange, type Range, rangeDaysMax } from '../../query/timeRange.ts'

export interface ChecksumPlan {
  resource: ListedResource
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
  resource: ListedResource,
  query: ChecksumQuery,
  { accountId, retained }: PlanCaller,
  nowMs: number,
): ChecksumPlan {
  const { range } = localRange(query, 1, rangeDaysMax, 'A request of checksums', nowMs)
  const retainedMs = retainedMsOf(resource, retained)
  return {
    resource,
    accountId,
    range: onlyRetained(range, retainedMs),
    retained: retainedFrom(range.fromMs, retainedMs),
  }
}
