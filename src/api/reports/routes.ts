import { NotModified } from '../../../schema/notModified.ts'
import { ReportQuery, ReportResponse } from '../../../schema/report.ts'
import { tableFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { reportCsv } from './csv.ts'
import { planReport } from './plan.ts'
import { runReport } from './run.ts'

export function reportRoutes(app: App, context: RouteContext): void {
  app.get('/reports', {
    schema: {
      tags: ['Reports'],
      summary: 'Get a report',
      description:
        'Metrics for each value of a dimension, or each combination of values of two or three: at most 1,000 rows, ordered by clicks, descending, unless `sort` is set; `next` leads to the next ones. `totals` include all rows. Bot and test clicks and test conversions are excluded. A conversion counts at the time when it converted, unless `count_at=click`. Dimensions that conversions do not have come from their click. Clicks have no status, source, event name and coupon code: they count under `(not set)`. Events, which `metrics` can name, have the dimensions of their click, and count when they occurred; events of clicks of bots and tests are excluded.',
      querystring: ReportQuery,
      response: { 200: ReportResponse, 304: NotModified },
    },
    config: { scope: 'read:reports', servesView: () => true, formats: tableFormats },
    handler: (request, reply) => {
      const { format, csv_escape: csvEscape, totals: hasTotals = false } = request.query
      return context.responseCache.sendTable(request, reply, {
        resource: 'reports',
        query: request.query,
        makePlan: () => planReport(request.query, request.caller, context.now()),
        run: (plan, signal) => runReport({ ...context, signal }, plan),
        toCsv: (report, plan) => {
          const totalsOf = hasTotals ? plan.offset + report.data.length : undefined
          const pathOfNext = `${request.routeOptions.url}?${format ? '' : 'format=csv&'}`
          return reportCsv(report, plan, { csvEscape, totalsOf, pathOfNext })
        },
      })
    },
  })
}
