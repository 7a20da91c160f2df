import { NotModified } from '../../../schema/notModified.ts'
import { tableFormats } from '../../../schema/rowFormat.ts'
import { DailyQuery, StatsDaily, StatsOverview, StatsQuery } from '../../../schema/stats.ts'
import { wantsCsv } from '../../http/contentNegotiation.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { checkCsvEscape } from '../../rows/csvEscape.ts'
import { planStats } from './plan.ts'
import { dailyCsv, runDaily, runOverview } from './run.ts'

export function statsRoutes(app: App, context: RouteContext): void {
  app.get(
    '/stats/overview',
    {
      schema: {
        tags: ['Stats'],
        summary: 'Totals over the last days, and how many campaigns and the like there are',
        description:
          'Neither bots nor tests count. A conversion belongs to the moment it converted. `resources` counts what is not archived now, whatever the window and filter.',
        querystring: StatsQuery,
        response: { 200: StatsOverview, 304: NotModified },
      },
      config: { scope: 'read:stats' },
    },
    (request, reply) =>
      context.responseCache.send(request, reply, (signal) =>
        runOverview(context, planStats(request.query, request.caller, context.now()), signal),
      ),
  )
  app.get(
    '/stats/daily',
    {
      schema: {
        tags: ['Stats'],
        summary: 'The same numbers day by day, in any time zone',
        description:
          'One row for every local day, oldest first; days without a click too. Days have the hours that they have in `tz`: 23, 24 or 25.',
        querystring: DailyQuery,
        response: { 200: StatsDaily, 304: NotModified },
      },
      config: { scope: 'read:stats', formats: tableFormats },
    },
    (request, reply) => {
      const plan = planStats(request.query, request.caller, context.now())
      const run = (signal: AbortSignal) => runDaily(context, plan, signal)
      const { format, csv_escape: csvEscape } = request.query
      const isCsv = wantsCsv(request, format)
      checkCsvEscape(csvEscape, isCsv ? 'csv' : undefined)
      if (!isCsv) return context.responseCache.send(request, reply, run)
      return context.responseCache.sendCsv(request, reply, async (signal) => dailyCsv(await run(signal), csvEscape))
    },
  )
}
