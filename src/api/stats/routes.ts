import { NotModified } from '../../../schema/notModified.ts'
import { tableFormats } from '../../../schema/rowFormat.ts'
import { DailyQuery, StatsDaily, StatsOverview, StatsQuery } from '../../../schema/stats.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { metricsCsv } from '../../rows/metricsCsv.ts'
import { planDaily, planOverview, runDaily, runOverview } from './stats.ts'

export function statsRoutes(app: App, context: RouteContext): void {
  app.get('/stats/overview', {
    schema: {
      tags: ['Stats'],
      summary: 'Get totals',
      description:
        'Every metric over a time range, and the current number of campaigns, offers, landing pages and traffic sources that are not archived, which does not depend on the range and the filters; keys that see a part of the account do not get it. Bot and test clicks and test conversions are excluded. A conversion counts at the time when it converted.',
      querystring: StatsQuery,
      response: { 200: StatsOverview, 304: NotModified },
    },
    config: { scope: 'read:stats', servesView: () => true },
    handler: (request, reply) =>
      context.responseCache.send(request, reply, (signal) =>
        runOverview({ ...context, signal }, planOverview(request.query, request.caller, context.now())),
      ),
  })
  app.get('/stats/daily', {
    schema: {
      tags: ['Stats'],
      summary: 'Get a time series',
      description:
        'Every metric by day, or by hour, week or month, in any time zone, oldest first; rows without clicks are included. A day has 23, 24 or 25 hours, depending on the clock changes of `tz`.',
      querystring: DailyQuery,
      response: { 200: StatsDaily, 304: NotModified },
    },
    config: { scope: 'read:stats', servesView: () => true, formats: tableFormats },
    handler: (request, reply) =>
      context.responseCache.sendTable(request, reply, {
        resource: 'stats-daily',
        query: request.query,
        makePlan: () => planDaily(request.query, request.caller, context.now()),
        run: (plan, signal) => runDaily({ ...context, signal }, plan),
        toCsv({ data, previous }, { metrics }) {
          const labels = ['id', 'date', 'complete']
          const isCompared = previous !== undefined
          return { texts: metricsCsv(labels, metrics, data, isCompared, request.query.csv_escape), headers: {} }
        },
      }),
  })
}
