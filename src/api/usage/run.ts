import { fairUseFactor } from '../../../schema/event.ts'
import type { Usage } from '../../../schema/usage.ts'
import type { Caller } from '../../http/caller.ts'
import type { RouteContext } from '../../http/context.ts'
import { countStoredEvents, startOfUtcMonth } from '../../query/countMonthlyEvents.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, instant, text } from '../../stores/clickhouse/sql.ts'

/**
 * Counts the clicks and events of an account in the current UTC month, beside its limits. Clicks count as in stats and reports.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readUsage(
  { stores, now }: RouteContext,
  { accountId, plan }: Caller,
  signal: AbortSignal,
): Promise<Usage> {
  const nowMs = now()
  const month = new Date(nowMs)
  const fromMs = startOfUtcMonth(nowMs)
  const untilMs = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
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
