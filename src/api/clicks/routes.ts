import { ClickPage, ClickQuery } from '../../../schema/click.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { planList } from '../../query/listPlan.ts'
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
 * @throws Problem as `planList`
 */
export function planClicks(query: ClickQuery, caller: PlanCaller, nowMs: number): ClickPlan {
  return {
    ...planList('clicks', query, caller, nowMs),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
  }
}
