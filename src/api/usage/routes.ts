import { NotModified } from '../../../schema/notModified.ts'
import { Usage, UsageQuery } from '../../../schema/usage.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { planUsage } from './plan.ts'
import { runUsage } from './run.ts'

export function usageRoutes(app: App, context: RouteContext): void {
  app.get(
    '/usage',
    {
      schema: {
        tags: ['Account'],
        summary: 'Get usage and limits',
        description:
          'Clicks and events of the current UTC month, and the limits of the plan. Clicks beyond the allowance are tracked and reported; events beyond the ceiling are not stored.',
        querystring: UsageQuery,
        response: { 200: Usage, 304: NotModified },
      },
      config: { scope: 'read:stats' },
    },
    (request, reply) =>
      context.responseCache.send(request, reply, (signal) =>
        runUsage(context, planUsage(request.caller, context.now()), signal),
      ),
  )
}
