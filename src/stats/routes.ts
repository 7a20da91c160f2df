import { NotModified } from '../../schema/answer.ts'
import { StatsDaily, StatsOverview, StatsQuery } from '../../schema/stats.ts'
import type { App, Room } from '../room.ts'
import { planStats } from './plan.ts'
import { runDaily, runOverview } from './run.ts'

export function statsRoutes(app: App, room: Room): void {
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
      room.answers.send(request, reply, (signal) =>
        runOverview(room, planStats(request.query, request.caller, room.now()), signal),
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
        querystring: StatsQuery,
        response: { 200: StatsDaily, 304: NotModified },
      },
      config: { scope: 'read:stats' },
    },
    (request, reply) =>
      room.answers.send(request, reply, (signal) =>
        runDaily(room, planStats(request.query, request.caller, room.now()), signal),
      ),
  )
}
