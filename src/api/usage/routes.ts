import { NotModified } from '../../../schema/notModified.ts'
import { Usage } from '../../../schema/usage.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { readUsage } from './run.ts'

export function usageRoutes(app: App, context: RouteContext): void {
  app.get(
    '/usage',
    {
      schema: {
        tags: ['Account'],
        summary: 'Get usage and limits',
        description:
          'Clicks and events of the current UTC month, and the limits of the plan. Clicks beyond the allowance are tracked and reported; events beyond the ceiling are not stored.',
        response: { 200: Usage, 304: NotModified },
      },
      config: { scope: 'read:stats' },
    },
    (request, reply) =>
      context.responseCache.send(request, reply, (signal) => readUsage(context, request.caller, signal)),
  )
}
