import { fairUseFactor } from '../../../schema/event.ts'
import { NotModified } from '../../../schema/notModified.ts'
import { Usage } from '../../../schema/usage.ts'
import type { Caller } from '../../http/caller.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { countMonth } from '../../query/monthlyCounts.ts'
import type { ReadContext } from '../../query/readContext.ts'
import { toInstantText } from '../../query/timeRange.ts'
import type { FreshResource } from '../../stores/postgres/freshness.ts'
import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

export function usageRoutes(app: App, context: RouteContext): void {
  app.get('/usage', {
    schema: {
      tags: ['Account'],
      summary: 'Get usage and limits',
      description:
        'Clicks and events of the current UTC month, and the limits of the plan. Clicks beyond the allowance are tracked and reported; events beyond the ceiling are not stored.',
      response: { 200: Usage, 304: NotModified },
    },
    config: { scope: 'read:stats' },
    handler: (request, reply) =>
      context.responseCache.send(request, reply, (signal) =>
        readUsage({ ...context, signal }, request.caller, context.now()),
      ),
  })
}

/** Counts the clicks and events of an account in the current UTC month, beside its limits. Clicks count as in stats and reports. */
async function readUsage(
  context: ReadContext,
  { accountId, subscription, freshness }: Caller,
  nowMs: number,
): Promise<Usage> {
  const fromMs = startOfUtcMonth(nowMs)
  const { clicks, events } = await countMonth(context, accountId, fromMs)
  const { name, clickAllowance, requestsPerMinute, eventsPerMinute, identifierEventsPerMinute } = subscription
  const storedAt = (resource: FreshResource) => {
    const storedMs = freshness[resource]?.storedMs ?? null
    return storedMs === null ? null : toInstantText(storedMs)
  }
  return {
    from: toInstantText(fromMs),
    to: toInstantText(startOfUtcMonth(nowMs, 1)),
    plan: name,
    clicks: { tracked: clicks, allowance: clickAllowance },
    events: { stored: events, ceiling: fairUseFactor * clickAllowance },
    lastStoredAt: { clicks: storedAt('clicks'), conversions: storedAt('conversions'), costs: storedAt('costs') },
    limits: { requestsPerMinute, eventsPerMinute, identifierEventsPerMinute },
    asOf: toInstantText(nowMs),
  }
}
