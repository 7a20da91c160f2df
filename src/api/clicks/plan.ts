import type { ClickQuery } from '../../../schema/click.ts'
import { type Filter, inStoredCase, readFilters } from '../../query/filters.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { PlanCaller } from '../../query/readContext.ts'

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
export function planClicks(query: ClickQuery, caller: PlanCaller, nowMs: number): ClickPlan {
  return {
    filters: readFilters(query),
    ...planList('clicks', query, caller, nowMs, inStoredCase(query)),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
    nowMs,
  }
}
