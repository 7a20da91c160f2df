import { FunnelQuery, FunnelResponse } from '../../../schema/funnel.ts'
import { NotModified } from '../../../schema/notModified.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { planFunnel } from './plan.ts'
import { runFunnel } from './run.ts'

export function funnelRoutes(app: App, context: RouteContext): void {
  app.get('/funnels', {
    schema: {
      tags: ['Events'],
      summary: 'Get a funnel',
      description:
        'How many visitors or clicks pass through a sequence of steps. The first step lies in the range, all others follow within `window`, also after `to`. Each visitor or click counts once, by the longest chain of steps, the earliest of equal ones. A row counts for one step; rows at the same moment are in the order of the steps. Filters and `group_by` apply to the row of the first step, or to its click. Clicks of bots and tests, their events and test conversions are excluded.',
      querystring: FunnelQuery,
      response: { 200: FunnelResponse, 304: NotModified },
    },
    config: { scope: 'read:events' },
    handler: (request, reply) => {
      const plan = planFunnel(request.query, request.caller, context.now())
      return context.responseCache.send(request, reply, (signal) => runFunnel({ ...context, signal }, plan))
    },
  })
}
