import { type QueryOptions, type QueryTarget, selectRows } from '../stores/clickhouse/select.ts'
import { ch, day, type Fragment, texts } from '../stores/clickhouse/sql.ts'

/**
 * Counts the server events of a UTC month. Copies of an event, which a repeated insert or two instances stored, count until
 * a merge.
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
    options,
  )
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
