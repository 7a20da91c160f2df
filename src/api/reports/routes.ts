import { NotModified } from '../../../schema/notModified.ts'
import { ReportQuery, ReportResponse } from '../../../schema/report.ts'
import { tableFormats } from '../../../schema/rowFormat.ts'
import { wantsCsv } from '../../http/contentNegotiation.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { Problem } from '../../problem.ts'
import { sendTable } from '../tableResponse.ts'
import { reportCsv } from './csv.ts'
import { planReport } from './plan.ts'
import { runReport } from './run.ts'

export function reportRoutes(app: App, context: RouteContext): void {
  app.get(
    '/reports',
    {
      schema: {
        tags: ['Reports'],
        summary: 'Get a report',
        description:
          'Metrics for each value of a dimension, or each combination of values of two or three: at most 1,000 rows, ordered by clicks, descending, unless `sort` is set; `offset` reads the next ones. `totals` include all rows. Bot and test clicks and test conversions are excluded. A conversion counts at the time when it converted. Dimensions that conversions do not have come from their click. Clicks have no status, source, event name and coupon code: they count under `(not set)`.',
        querystring: ReportQuery,
        response: { 200: ReportResponse, 304: NotModified },
      },
      config: { scope: 'read:reports', formats: tableFormats },
    },
    (request, reply) => {
      const { format, csv_escape: csvEscape, totals: hasTotals = false } = request.query
      if (hasTotals && !wantsCsv(request, format)) {
        throw new Problem('invalid_totals', 'totals requires CSV; add format=csv, or omit totals.', { param: 'totals' })
      }
      return sendTable(context, request, reply, request.query, {
        resource: 'reports',
        makePlan: () => planReport(request.query, request.caller, context.now()),
        run: runReport,
        toCsv: (report, plan) =>
          reportCsv(report, plan, { csvEscape, hasTotals, nextUrl: urlAt(plan.offset + report.data.length) }),
      })

      /** The address of the request at another offset: its other parameters stay as they were sent, so it grows little. */
      function urlAt(offset: number): string {
        const { search } = new URL(request.url, 'http://localhost')
        const others = search
          .slice(1)
          .split('&')
          .filter((part) => part !== '' && !new URLSearchParams(part).has('offset'))
        return `${request.routeOptions.url}?${[...others, `offset=${offset}`].join('&')}`
      }
    },
  )
}
