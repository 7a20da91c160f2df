import type { ClickQuery } from '../../../schema/click.ts'
import { type Filter, inStoredCase, readFilters } from '../../query/filters.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

export interface ClickPlan extends ListPlan {
  filters: readonly Filter[]
  isBot: boolean | undefined
  isTest: boolean | undefined
  converted: boolean | undefined
  nowMs: number
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, or `invalid_<filter>`
 */
export function planClicks(
  query: ClickQuery,
  caller: { accountId: string; currency: string; retained: RetainedRanges },
  nowMs: number,
): ClickPlan {
  return {
    filters: readFilters(query),
    ...planList('clicks', query, caller, caller.retained.clicksMs, nowMs, inStoredCase(query)),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
    nowMs,
  }
}
