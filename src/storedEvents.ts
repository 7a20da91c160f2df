import { ch, day, type Fragment, texts } from './sql/fragment.ts'

/** @returns the first moment of the UTC month that a moment lies in, epoch milliseconds */
export function startOfUtcMonth(epochMs: number): number {
  const moment = new Date(epochMs)
  return Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth())
}

/**
 * How many server events of a UTC month are stored. Reads the projection `by_month`: a few rows a part.
 * @param monthMs its first moment
 * @returns rows `accountId`, `stored`; accounts without events are left out
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
