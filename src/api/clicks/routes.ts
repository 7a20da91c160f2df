import { ClickPage, ClickQuery } from '../../../schema/click.ts'
import { namesInTree } from '../../../schema/filters.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { inStoredCase, readAllFilters } from '../../query/filters.ts'
import { planList } from '../../query/list.ts'
import type { PlanCaller } from '../../query/readContext.ts'
import { sendList } from '../listResponse.ts'
import { clickExportSql } from './export.ts'
import { type ClickPlan, listClicks } from './page.ts'

export function clickRoutes(app: App, context: RouteContext): void {
  app.get('/clicks', {
    schema: {
      tags: ['Clicks'],
      summary: 'List clicks',
      description:
        'Clicks of the account, newest first. Bot and test clicks are included and flagged; stats and reports exclude them.',
      querystring: ClickQuery,
      response: { 200: ClickPage },
    },
    config: { scope: 'read:clicks', formats: listFormats },
    handler: (request, reply) =>
      sendList(context, request, reply, request.query, {
        resource: 'clicks',
        plan: planClicks(request.query, request.caller, context.now()),
        listRows: listClicks,
        exportSql: clickExportSql,
      }),
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
