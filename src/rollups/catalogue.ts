import { ch, day, type Fragment, instant, text } from '../sql/fragment.ts'

/** Clicks of one account in a time range, UTC, `until` exclusive. */
export interface Span {
  accountId: string
  fromMs: number
  untilMs: number
}

/** A table of sums over clicks, and how to compute the same from the clicks themselves. */
export interface Rollup {
  readonly table: Fragment
  /** The key that holds the time. */
  readonly at: Fragment
  /** Its key but for the account, in the order of the table. */
  readonly keys: Fragment
  /** The sums as they should be: account_id, the keys, clicks, cost. Spans are whole UTC days. */
  fromClicks(span: Span): Fragment
  /** The sums as they are stored, with the same columns; rows of one key are not yet added up. */
  stored(span: Span): Fragment
}

const sums = ch`toInt64(count()) AS clicks, sum(toDecimal128(ifNull(cost_base, 0), 6)) AS cost`

/** What counts: the account's clicks once each, without bots and tests. */
function counted({ accountId, fromMs, untilMs }: Span): Fragment {
  return ch`account_id = ${text(accountId)}
  AND clicked_at >= ${instant(fromMs)}
  AND clicked_at < ${instant(untilMs)}
  AND NOT is_bot AND NOT is_test`
}

function storedDays({ accountId, fromMs, untilMs }: Span): Fragment {
  return ch`account_id = ${text(accountId)}
  AND day >= ${day(fromMs)}
  AND day < ${day(untilMs)}`
}

/** Every rollup by the name of its table. The views of `clickhouse/0002_rollups.sql` compute the same, insert by insert. */
export const rollups = {
  report_daily: {
    table: ch`report_daily`,
    at: ch`day`,
    keys: ch`dimension, day, value`,
    fromClicks: (span) => ch`
SELECT account_id, dimension, toDate(clicked_at) AS day, value, ${sums}
FROM clicks FINAL
ARRAY JOIN
  ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE ${counted(span)}
GROUP BY account_id, dimension, day, value`,
    stored: (span) => ch`
SELECT account_id, dimension, day, value, clicks, cost
FROM report_daily
WHERE ${storedDays(span)}`,
  },
  report_daily_by_campaign: {
    table: ch`report_daily_by_campaign`,
    at: ch`day`,
    keys: ch`dimension, campaign_id, day, value`,
    fromClicks: (span) => ch`
SELECT account_id, dimension, campaign_id, toDate(clicked_at) AS day, value, ${sums}
FROM clicks FINAL
ARRAY JOIN
  ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value
WHERE ${counted(span)}
GROUP BY account_id, dimension, campaign_id, day, value`,
    stored: (span) => ch`
SELECT account_id, dimension, campaign_id, day, value, clicks, cost
FROM report_daily_by_campaign
WHERE ${storedDays(span)}`,
  },
  clicks_by_quarter_hour: {
    table: ch`clicks_by_quarter_hour`,
    at: ch`bucket`,
    keys: ch`bucket, campaign_id`,
    fromClicks: (span) => ch`
SELECT account_id, toStartOfFifteenMinutes(clicked_at) AS bucket, campaign_id, ${sums}
FROM clicks FINAL
WHERE ${counted(span)}
GROUP BY account_id, bucket, campaign_id`,
    stored: (span) => ch`
SELECT account_id, bucket, campaign_id, clicks, cost
FROM clicks_by_quarter_hour
WHERE account_id = ${text(span.accountId)}
  AND bucket >= ${instant(span.fromMs)}
  AND bucket < ${instant(span.untilMs)}`,
  },
} as const satisfies Record<string, Rollup>

export type RollupName = keyof typeof rollups
export const rollupNames = Object.keys(rollups) as RollupName[]
