import { NotModified } from '../../../schema/notModified.ts'
import { ReportQuery, ReportResponse } from '../../../schema/report.ts'
import { tableFormats } from '../../../schema/rowFormat.ts'
import { wantsCsv } from '../../http/contentNegotiation.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { checkCsvEscape } from '../../rows/csvEscape.ts'
import { planReport } from './plan.ts'
import { reportCsv, runReport } from './run.ts'

export function reportRoutes(app: App, context: RouteContext): void {
  app.get(
    '/reports',
    {
      schema: {
        tags: ['Reports'],
        summary: 'Clicks, conversions, money and ratios, grouped by one dimension',
        description:
          'At most 1,000 rows, clicks descending; `totals` and `bucketCount` are over all buckets. Neither bots nor tests count. A conversion belongs to the moment it converted.',
        querystring: ReportQuery,
        response: { 200: ReportResponse, 304: NotModified },
      },
      config: { scope: 'read:reports', formats: tableFormats },
    },
    (request, reply) => {
      const plan = planReport(request.query, request.caller, context.now())
      const run = (signal: AbortSignal) => runReport(context, plan, signal)
      const { format, csv_escape: csvEscape } = request.query
      const isCsv = wantsCsv(request, format)
      checkCsvEscape(csvEscape, isCsv ? 'csv' : undefined)
      if (!isCsv) return context.responseCache.send(request, reply, run)
      return context.responseCache.sendCsv(request, reply, async (signal) => reportCsv(await run(signal), csvEscape))
    },
  )
}
