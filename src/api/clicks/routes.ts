import { ClickPage, ClickQuery } from '../../../schema/click.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendList } from '../listResponse.ts'
import { clickExportSql } from './export.ts'
import { listClicks, planClicks } from './page.ts'

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
        readPage: listClicks,
        exportSql: clickExportSql,
      }),
  })
}
