import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { type Filter, inStoredCase, readFilters } from '../../query/filters.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { PlanCaller } from '../../query/readContext.ts'

export interface ConversionPlan extends ListPlan {
  filters: readonly Filter[]
  withTests: boolean
  nowMs: number
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, or `invalid_<filter>`
 */
export function planConversions(query: ConversionQuery, caller: PlanCaller, nowMs: number): ConversionPlan {
  const filters = readFilters(query)
  const normal = { ...inStoredCase(query), status: normalStatus(query, filters), source: query.source ?? 'all' }
  return {
    filters,
    ...planList('conversions', query, caller, nowMs, normal),
    withTests: query.include_test_mode === true,
    nowMs,
  }
}

/** A list of statuses is the same filter in any order. */
function normalStatus({ status: text }: ConversionQuery, filters: readonly Filter[]) {
  const status = filters.find(({ attribute }) => attribute === 'status')
  if (!status || status.isExcluded) return text
  return conversionStatuses.filter((name) => status.values.includes(name))
}
