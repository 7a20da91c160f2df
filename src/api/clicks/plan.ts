import type { ClickQuery } from '../../../schema/click.ts'
import { namesInTree } from '../../../schema/filters.ts'
import { inStoredCase, readAllFilters } from '../../query/filters.ts'
import type { Filter } from '../../query/filterTree.ts'
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
 * @throws Problem as `planList`, or `invalid_filters`, `invalid_<filter>`
 */
export function planClicks(query: ClickQuery, caller: PlanCaller, nowMs: number): ClickPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.clicks)
  return {
    filters,
    ...planList('clicks', query, caller, nowMs, { ...inStoredCase(query), filters: canonical }),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
    nowMs,
  }
}
