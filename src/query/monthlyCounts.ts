import { type QueryOptions, type QueryTarget, selectRows } from '../stores/clickhouse/select.ts'
import { ch, day, type Fragment, instant, text, texts } from '../stores/clickhouse/sql.ts'
import { startOfUtcMonth } from '../stores/timing/utcMonth.ts'
import { type ReadContext, readRows } from './readContext.ts'

/**
 * Counts the clicks and the server events of an account in a UTC month. Clicks count as in stats and reports.
 * @param monthMs start of the month, epoch milliseconds
 */
export async function countMonth(context: ReadContext, accountId: string, monthMs: number) {
  const clicksSql = ch`
SELECT sum(clicks) AS clicks
FROM sums_by_quarter_hour
WHERE account_id = ${text(accountId)}
  AND bucket >= ${instant(monthMs)}
  AND bucket < ${instant(startOfUtcMonth(monthMs, 1))}`
  const [clicks, events] = await Promise.all([
    readRows<{ clicks: number }>(context, clicksSql, 'usage.clicks'),
    countStoredEvents(context.stores.clickhouse, [accountId], monthMs, {
      label: 'usage.events',
      signal: context.signal,
    }),
  ])
  return { clicks: clicks[0]?.clicks ?? 0, events: events.get(accountId) ?? 0 }
}

/**
 * Counts the server events of a UTC month. Copies of an event, which a repeated insert or two instances stored, count until
 * a merge.
 * @param monthMs start of the month, epoch milliseconds
 * @returns events by account; accounts without events are left out
 */
export async function countStoredEvents(
  clickhouse: QueryTarget,
  accountIds: readonly string[],
  monthMs: number,
  options: QueryOptions,
): Promise<Map<string, number>> {
  const query = storedInMonthSql(accountIds, monthMs)
  const rows = await selectRows<{ accountId: string; stored: number }>(clickhouse, query, options)
  return new Map(rows.map(({ accountId, stored }) => [accountId, stored]))
}

/**
 * Counts the rows of a month from the projection `by_month`: a few rows a part.
 * @returns rows `accountId`, `stored`
 */
export function storedInMonthSql(accountIds: readonly string[], monthMs: number): Fragment {
  return ch`
SELECT account_id AS accountId, count() AS stored
FROM pixel_events
WHERE account_id IN ${texts(accountIds)}
  AND origin = 'server'
  AND toStartOfMonth(received_at) = ${day(monthMs)}
GROUP BY account_id`
}
