import { ClickPage, ClickQuery } from '../../schema/click.ts'
import type { App, Room } from '../room.ts'
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
      config: { scope: 'read:clicks' },
    },
    (request) => listClicks(room, planClicks(request.query, request.caller, room.now()), request.signal),
  )
}
