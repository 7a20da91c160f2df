import { ConversionPage, ConversionQuery } from '../../../schema/conversion.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendList } from '../listResponse.ts'
import { planConversions } from './plan.ts'
import { listConversions } from './run.ts'
import { conversionExportSql } from './sql.ts'

export function conversionRoutes(app: App, context: RouteContext): void {
  app.get(
    '/conversions',
    {
      schema: {
        tags: ['Conversions'],
        summary: 'List conversions',
        description:
          'CPA and revenue conversions of the account, newest first, each in its latest version. Test conversions are included only with `include_test_mode=true`.',
        querystring: ConversionQuery,
        response: { 200: ConversionPage },
      },
      config: { scope: 'read:conversions', formats: listFormats },
    },
    (request, reply) =>
      sendList(context, request, reply, request.query, {
        resource: 'conversions',
        plan: planConversions(request.query, request.caller, context.now()),
        readPage: listConversions,
        exportSql: conversionExportSql,
      }),
  )
}
