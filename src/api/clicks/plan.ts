import type { ClickQuery } from '../../../schema/click.ts'
import { namesInTree } from '../../../schema/filters.ts'
import { type Filter, inStoredCase, readAllFilters } from '../../query/filters.ts'
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
 * @throws Problem as `planList`, or `invalid_filters`, `invalid_<filter>`
 */
export function planClicks(
  query: ClickQuery,
  caller: { accountId: string; currency: string; retained: RetainedRanges },
  nowMs: number,
): ClickPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.clicks)
  const normal = { ...inStoredCase(query), filters: canonical }
  return {
    filters,
    ...planList('clicks', query, caller, caller.retained.clicksMs, nowMs, normal),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
    nowMs,
  }
}
