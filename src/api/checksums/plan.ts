import type { ChecksumQuery } from '../../../schema/checksum.ts'
import { assertDaysAtMost, type Range, rangeDaysMax, reportRange } from '../../query/timeRange.ts'

/** Resources with checksums. */
export type ChecksumResource = 'clicks' | 'conversions'

/** Query plan of checksums. */
export interface ChecksumPlan {
  resource: ChecksumResource
  accountId: string
  /** Whole UTC days. */
  range: Range
}

/**
 * Builds the query plan of checksums; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function planChecksums(
  resource: ChecksumResource,
  query: ChecksumQuery,
  { accountId }: { accountId: string },
  nowMs: number,
): ChecksumPlan {
  const range = reportRange(query, 1, 'UTC', nowMs)
  assertDaysAtMost(rangeDaysMax, range, 'UTC', 'A request of checksums')
  return { resource, accountId, range }
}
