import { ClickPage, ClickQuery } from '../../schema/click.ts'
import { listFormats } from '../../schema/rowFormat.ts'
import { formatOfExport } from '../exports.ts'
import type { App, Room } from '../room.ts'
import { exportClicks } from './export.ts'
import { planClicks } from './plan.ts'
import { listClicks } from './run.ts'

export function clickRoutes(app: App, room: Room): void {
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
    (request, reply) => {
      const plan = planClicks(request.query, request.caller, room.now())
      const format = formatOfExport(request, listFormats, request.query.format)
      if (!format) return listClicks(room, plan, request.signal)
      return room.exports.send(request, reply, format, (signal) => exportClicks(room, plan, format, signal))
    },
  )
}
