import { ConversionPage, ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { CostPage, CostQuery } from '../../../schema/cost.ts'
import { namesInTree } from '../../../schema/filters.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { inStoredCase, readAllFilters, readFilters } from '../../query/filters.ts'
import { planList } from '../../query/list.ts'
import type { PlanCaller } from '../../query/readContext.ts'
import { addList } from '../listResponse.ts'
import { versionExportSql } from './export.ts'
import { listVersions, type VersionPlan } from './page.ts'

/** Lists of rows that change. */
export function versionRoutes(app: App, context: RouteContext): void {
  addList(app, context, {
    resource: 'conversions',
    scope: 'read:conversions',
    description:
      'CPA and revenue conversions of the account, newest first, each in its latest version. Test conversions are included only with `include_test_mode=true`.',
    query: ConversionQuery,
    page: ConversionPage,
    makePlan: planConversions,
    listRows: listVersions,
    exportSql: versionExportSql,
  })
  addList(app, context, {
    resource: 'costs',
    scope: 'read:reports',
    description:
      'Costs of the account that were imported as rows of their own, newest first, each in its latest version. The cost 0 is of a row that was taken back. Reports add the cost of clicks to them. A row has no value of filters such as `region` and `utm_source`.',
    query: CostQuery,
    page: CostPage,
    makePlan: planCosts,
    listRows: listVersions,
    exportSql: versionExportSql,
  })
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, `invalid_filters`, or `invalid_<filter>`
 */
function planCosts(query: CostQuery, caller: PlanCaller, nowMs: number): VersionPlan {
  const { filters, canonical } = readAllFilters(query, namesInTree.costs)
  const list = planList('costs', query, caller, nowMs, { ...inStoredCase(query), filters: canonical })
  return { table: 'costs', filters, ...list, withTests: true, nowMs }
}

/** Builds the query plan of a page as `planCosts` does. */
function planConversions(query: ConversionQuery, caller: PlanCaller, nowMs: number): VersionPlan {
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
