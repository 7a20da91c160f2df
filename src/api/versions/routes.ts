import { ConversionPage, ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { CostPage, CostQuery } from '../../../schema/cost.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { planList } from '../../query/listPlan.ts'
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
    servesView: ({ hidden }) => !hidden.includes('cost'),
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
 * @throws Problem as `planList`
 */
function planCosts(query: CostQuery, caller: PlanCaller, nowMs: number): VersionPlan {
  return { ...planList('costs', query, caller, nowMs), table: 'costs', withTests: true }
}

/** Builds the query plan of a page as `planCosts` does. */
function planConversions(query: ConversionQuery, caller: PlanCaller, nowMs: number): VersionPlan {
  const normal = { status: normalStatus(query.status), source: query.source ?? 'all' }
  const list = planList('conversions', query, caller, nowMs, normal)
  return { ...list, table: 'conversions', withTests: query.include_test_mode === true }
}

/** A list of statuses is the same filter in any order. */
function normalStatus(list: string | undefined) {
  if (list === undefined || list.startsWith('!')) return list
  const names = list.split(',')
  return conversionStatuses.filter((name) => names.includes(name))
}
