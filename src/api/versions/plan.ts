import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import type { CostQuery } from '../../../schema/cost.ts'
import { namesInTree } from '../../../schema/filters.ts'
import { inStoredCase, readAllFilters, readFilters } from '../../query/filters.ts'
import type { Filter } from '../../query/filterTree.ts'
import type { VersionedTable } from '../../query/latestVersions.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { PlanCaller } from '../../query/readContext.ts'

/** A list of rows that change, each in its latest version. */
export interface VersionPlan extends ListPlan {
  table: VersionedTable
  filters: readonly Filter[]
  withTests: boolean
  nowMs: number
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, `invalid_filters`, or `invalid_<filter>`
 */
export function planCosts(query: CostQuery, caller: PlanCaller, nowMs: number): VersionPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.costs)
  const list = planList('costs', query, caller, nowMs, { ...inStoredCase(query), filters: canonical })
  return { table: 'costs', filters, ...list, withTests: true, nowMs }
}

/** Builds the query plan of a page as `planCosts` does. */
export function planConversions(query: ConversionQuery, caller: PlanCaller, nowMs: number): VersionPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.conversions)
  const source = query.source ?? 'all'
  const normal = { ...inStoredCase(query), status: normalStatus(query), source, filters: canonical }
  const list = planList('conversions', query, caller, nowMs, normal)
  return { table: 'conversions', filters, ...list, withTests: query.include_test_mode === true, nowMs }
}

/** A list of statuses is the same filter in any order. */
function normalStatus({ status: text }: ConversionQuery) {
  const [status] = readFilters({ ...(text !== undefined && { status: text }) })
  if (!status || status.isExcluded) return text
  return conversionStatuses.filter((name) => status.values.includes(name))
}
