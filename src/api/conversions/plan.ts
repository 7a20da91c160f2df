import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { namesInTree } from '../../../schema/filters.ts'
import { inStoredCase, readAllFilters, readFilters } from '../../query/filters.ts'
import type { Filter } from '../../query/filterTree.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { PlanCaller } from '../../query/readContext.ts'

export interface ConversionPlan extends ListPlan {
  filters: readonly Filter[]
  withTests: boolean
  nowMs: number
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, `invalid_filters`, or `invalid_<filter>`
 */
export function planConversions(query: ConversionQuery, caller: PlanCaller, nowMs: number): ConversionPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.conversions)
  const source = query.source ?? 'all'
  const normal = { ...inStoredCase(query), status: normalStatus(query), source, filters: canonical }
  return {
    filters,
    ...planList('conversions', query, caller, nowMs, normal),
    withTests: query.include_test_mode === true,
    nowMs,
  }
}

/** A list of statuses is the same filter in any order. */
function normalStatus({ status: text }: ConversionQuery) {
  const [status] = readFilters({ ...(text !== undefined && { status: text }) })
  if (!status || status.isExcluded) return text
  return conversionStatuses.filter((name) => status.values.includes(name))
}
