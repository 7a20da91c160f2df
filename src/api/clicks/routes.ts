import { ClickPage, ClickQuery } from '../../../schema/click.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { streamFormat } from '../../http/streaming.ts'
import { readWatermark } from '../../query/listOrder.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { checkCsvEscape } from '../../rows/csvEscape.ts'
import { exportClicks } from './export.ts'
import { planClicks } from './plan.ts'
import { listClicks } from './run.ts'

export function clickRoutes(app: App, context: RouteContext): void {
  app.get(
    '/clicks',
    {
      schema: {
        tags: ['Clicks'],
        summary: 'Clicks, newest first',
        description: 'Bots and tests are listed and marked; they count nowhere in stats and reports.',
        querystring: ClickQuery,
        response: { 200: ClickPage },
      },
      config: { scope: 'read:clicks', formats: listFormats },
    },
    async (request, reply) => {
      const plan = planClicks(request.query, request.caller, context.now())
      const { format: wanted, csv_escape: csvEscape } = request.query
      const format = streamFormat(request, listFormats, wanted)
      checkCsvEscape(csvEscape, format)
      if (!format) return await listClicks(context, plan, request.signal)
      const asOfMs = await readWatermark(context.stores.postgres, plan.accountId, 'clicks')
      reply.header('x-as-of', toInstantText(asOfMs))
      return await context.streaming.send(request, reply, format, (signal) =>
        exportClicks(context, plan, { format, csvEscape, asOfMs }, signal),
      )
    },
  )
}
