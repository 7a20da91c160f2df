import { fairUseFactor } from '../../../schema/event.ts'
import type { Usage } from '../../../schema/usage.ts'
import type { RouteContext } from '../../http/context.ts'
import { countStoredEvents } from '../../query/countMonthlyEvents.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { UsagePlan } from './plan.ts'
import { trackedClicksSql } from './sql.ts'

/**
 * Counts the clicks and events of an account this month, beside its limits.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runUsage({ stores }: RouteContext, plan: UsagePlan, signal: AbortSignal): Promise<Usage> {
  const { accountId, month, subscription, nowMs } = plan
  const [clicks, events] = await Promise.all([
    selectRows<{ clicks: number }>(stores.clickhouse, trackedClicksSql(plan), { label: 'usage.clicks', signal }),
    countStoredEvents(stores.clickhouse, [accountId], month.fromMs, { label: 'usage.events', signal }),
  ])
  const { name, clickAllowance, requestsPerMinute, eventsPerMinute, identifierEventsPerMinute } = subscription
  return {
    from: toInstantText(month.fromMs),
    to: toInstantText(month.untilMs),
    plan: name,
    clicks: { tracked: clicks[0]?.clicks ?? 0, allowance: clickAllowance },
    events: { stored: events.get(accountId) ?? 0, ceiling: fairUseFactor * clickAllowance },
    limits: { requestsPerMinute, eventsPerMinute, identifierEventsPerMinute },
    asOf: toInstantText(nowMs),
  }
}
