import { ClickPage, ClickQuery } from '../../../schema/click.ts'
import { namesInTree } from '../../../schema/filters.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { inStoredCase, readAllFilters } from '../../query/filters.ts'
import { planList } from '../../query/list.ts'
import type { PlanCaller } from '../../query/readContext.ts'
import { addList } from '../listResponse.ts'
import { clickExportSql } from './export.ts'
import { type ClickPlan, listClicks } from './page.ts'

export function clickRoutes(app: App, context: RouteContext): void {
  addList(app, context, {
    resource: 'clicks',
    scope: 'read:clicks',
    description:
      'Clicks of the account, newest first. Bot and test clicks are included and flagged; stats and reports exclude them.',
    query: ClickQuery,
    page: ClickPage,
    makePlan: planClicks,
    listRows: listClicks,
    exportSql: clickExportSql,
  })
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
