import { ConversionPage, ConversionQuery } from '../../../schema/conversion.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { streamFormat } from '../../http/streaming.ts'
import { readWatermark } from '../../query/listOrder.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { checkCsvEscape } from '../../rows/csvEscape.ts'
import { exportConversions } from './export.ts'
import { planConversions } from './plan.ts'
import { listConversions } from './run.ts'

export function conversionRoutes(app: App, context: RouteContext): void {
  app.get(
    '/conversions',
    {
      schema: {
        tags: ['Conversions'],
        summary: 'CPA and revenue conversions, newest first',
        description:
          'A conversion that changed its status is listed once, in its latest state. Tests are left out unless asked for.',
        querystring: ConversionQuery,
        response: { 200: ConversionPage },
      },
      config: { scope: 'read:conversions', formats: listFormats },
    },
    async (request, reply) => {
      const plan = planConversions(request.query, request.caller)
      const { format: wanted, csv_escape: csvEscape } = request.query
      const format = streamFormat(request, listFormats, wanted)
      checkCsvEscape(csvEscape, format)
      if (!format) return await listConversions(context, plan, request.signal)
      const asOfMs = await readWatermark(context.stores.postgres, plan.accountId, 'conversions')
      reply.header('x-as-of', toInstantText(asOfMs))
      return await context.streaming.send(request, reply, format, (signal) =>
        exportConversions(context, plan, { format, csvEscape, asOfMs }, signal),
      )
    },
  )
}
