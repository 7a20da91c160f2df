import { ConversionPage, ConversionQuery } from '../../../schema/conversion.ts'
import { CostPage, CostQuery } from '../../../schema/cost.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendList } from '../listResponse.ts'
import { versionExportSql } from './export.ts'
import { listVersions, planConversions, planCosts } from './page.ts'

/** Lists of rows that change. */
export function versionRoutes(app: App, context: RouteContext): void {
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
        readPage: listVersions,
        exportSql: versionExportSql,
      }),
  )
  app.get(
    '/costs',
    {
      schema: {
        tags: ['Costs'],
        summary: 'List costs',
        description:
          'Costs of the account that were imported as rows of their own, newest first, each in its latest version. The cost 0 is of a row that was taken back. Reports add the cost of clicks to them. A row has no value of filters such as `region` and `utm_source`.',
        querystring: CostQuery,
        response: { 200: CostPage },
      },
      config: { scope: 'read:reports', formats: listFormats },
    },
    (request, reply) =>
      sendList(context, request, reply, request.query, {
        resource: 'costs',
        plan: planCosts(request.query, request.caller, context.now()),
        readPage: listVersions,
        exportSql: versionExportSql,
      }),
  )
}
