import { fairUseFactor } from '../../../schema/event.ts'
import { NotModified } from '../../../schema/notModified.ts'
import { Usage } from '../../../schema/usage.ts'
import type { Caller } from '../../http/caller.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { countStoredEvents } from '../../query/countMonthlyEvents.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, instant, text } from '../../stores/clickhouse/sql.ts'
import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

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

/**
 * Counts the clicks and events of an account in the current UTC month, beside its limits. Clicks count as in stats and reports.
 * @throws Problem `unavailable`, `query_timeout`
 */
async function readUsage(
  { stores, now }: RouteContext,
  { accountId, plan }: Caller,
  signal: AbortSignal,
): Promise<Usage> {
  const nowMs = now()
  const fromMs = startOfUtcMonth(nowMs)
  const untilMs = startOfUtcMonth(nowMs, 1)
  const clicksSql = ch`
SELECT sum(clicks) AS clicks
FROM sums_by_quarter_hour
WHERE account_id = ${text(accountId)}
  AND bucket >= ${instant(fromMs)}
  AND bucket < ${instant(untilMs)}`
  const [clicks, events] = await Promise.all([
    selectRows<{ clicks: number }>(stores.clickhouse, clicksSql, { label: 'usage.clicks', signal }),
    countStoredEvents(stores.clickhouse, [accountId], fromMs, { label: 'usage.events', signal }),
  ])
  const { name, clickAllowance, requestsPerMinute, eventsPerMinute, identifierEventsPerMinute } = plan
  return {
    from: toInstantText(fromMs),
    to: toInstantText(untilMs),
    plan: name,
    clicks: { tracked: clicks[0]?.clicks ?? 0, allowance: clickAllowance },
    events: { stored: events.get(accountId) ?? 0, ceiling: fairUseFactor * clickAllowance },
    limits: { requestsPerMinute, eventsPerMinute, identifierEventsPerMinute },
    asOf: toInstantText(nowMs),
  }
}
