import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { type Filter, readFilters } from '../../query/filters.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'

export interface ConversionPlan extends ListPlan {
  filters: readonly Filter[]
  /** Undefined: all statuses. */
  statuses: string[] | undefined
  source: 'cpa' | 'revenue' | undefined
  withTests: boolean
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, or `invalid_<filter>`
 */
export function planConversions(
  query: ConversionQuery,
  caller: { accountId: string; currency: string },
  nowMs: number,
): ConversionPlan {
  const wanted = query.status?.split(',')
  const statuses = wanted && conversionStatuses.filter((status) => wanted.includes(status))
  return {
    filters: readFilters(query),
    ...planList('conversions', query, caller, 0, nowMs, { status: statuses }),
    statuses,
    source: query.source === 'all' ? undefined : query.source,
    withTests: query.include_test_mode === true,
  }
}
