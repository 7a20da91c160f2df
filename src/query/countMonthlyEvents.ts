import { type QueryOptions, type QueryTarget, selectRows } from '../stores/clickhouse/select.ts'
import { ch, day, type Fragment, texts } from '../stores/clickhouse/sql.ts'

/** @returns the start of the UTC month of a time, epoch milliseconds */
export function startOfUtcMonth(epochMs: number): number {
  const moment = new Date(epochMs)
  return Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth())
}

/**
 * Counts the server events of a UTC month. Copies of an event that retries stored count once, merged or not; copies that
 * two instances stored at the same time count twice until they are merged.
 * @param monthMs start of the month, epoch milliseconds
 * @returns events by account; accounts without events are left out
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function countStoredEvents(
  clickhouse: QueryTarget,
  accountIds: readonly string[],
  monthMs: number,
  options: QueryOptions,
): Promise<Map<string, number>> {
  const rows = await selectRows<{ accountId: string; stored: number }>(
    clickhouse,
    storedInMonthSql(accountIds, monthMs),
    // Both subqueries read the same parts of the table; a merge between them would change the difference.
    { ...options, settings: { enable_shared_storage_snapshot_in_query: 1 } },
  )
  return new Map(rows.map(({ accountId, stored }) => [accountId, stored]))
}

/**
 * The rows of a month, from the projection `by_month` (a few rows a part), minus the surplus copies of events that were
 * inserted again.
 * @returns rows `accountId`, `stored`
 */
export function storedInMonthSql(accountIds: readonly string[], monthMs: number): Fragment {
  const accounts = ch`account_id IN ${texts(accountIds)}`
  const inMonth = ch`toStartOfMonth(received_at) = ${day(monthMs)}`
  return ch`
SELECT accountId, sum(rows) AS stored
FROM (
  SELECT account_id AS accountId, toInt64(count()) AS rows
  FROM pixel_events
  WHERE ${accounts}
    AND origin = 'server'
    AND ${inMonth}
  GROUP BY account_id
  UNION ALL
  SELECT account_id AS accountId, toInt64(uniqExact(id, generation)) - toInt64(count()) AS rows
  FROM pixel_events
  WHERE ${accounts}
    AND origin = 'server'
    AND id IN (SELECT id FROM pixel_event_retries WHERE ${accounts} AND ${inMonth})
    AND ${inMonth}
  GROUP BY account_id
)
GROUP BY accountId`
}
