import { type RowKind, sumColumns, sumsOf } from '../../query/metrics.ts'
import { ch, day, type Fragment, identifier, instant, nothing, text } from '../../stores/clickhouse/sql.ts'

/** Rows of one account in a time range, UTC, `until` exclusive. */
export interface Span {
  accountId: string
  fromMs: number
  untilMs: number
}

/** A table of sums over clicks and conversions. Views update it at each insert. */
interface Rollup {
  readonly table: Fragment
  /** The key that holds the time. */
  readonly at: Fragment
  /** Its key but for the account, in the order of the table. */
  readonly keys: Fragment
  /** The keys of a row, from the moment that it counts at. */
  readonly keysOf: (moment: Fragment) => Fragment
  /** What makes several keys of one row. */
  readonly expand: Fragment
  /** Which of its sums are of that span: whole UTC days. */
  readonly within: (span: Span) => Fragment
}

const withinDays = ({ fromMs, untilMs }: Span) => ch`day >= ${day(fromMs)} AND day < ${day(untilMs)}`

/** Every rollup by the name of its table. */
export const rollups = {
  sums_by_day: {
    table: ch`sums_by_day`,
    at: ch`day`,
    keys: ch`dimension, day, value`,
    keysOf: (moment) => ch`dimension, toDate(${moment}) AS day, value`,
    expand: ch`
ARRAY JOIN
  ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value`,
    within: withinDays,
  },
  sums_by_day_and_campaign: {
    table: ch`sums_by_day_and_campaign`,
    at: ch`day`,
    keys: ch`dimension, campaign_id, day, value`,
    keysOf: (moment) => ch`dimension, campaign_id, toDate(${moment}) AS day, value`,
    expand: ch`
ARRAY JOIN
  ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value`,
    within: withinDays,
  },
  sums_by_quarter_hour: {
    table: ch`sums_by_quarter_hour`,
    at: ch`bucket`,
    keys: ch`bucket, campaign_id`,
    keysOf: (moment) => ch`toStartOfFifteenMinutes(${moment}) AS bucket, campaign_id`,
    expand: nothing,
    within: ({ fromMs, untilMs }) => ch`bucket >= ${instant(fromMs)} AND bucket < ${instant(untilMs)}`,
  },
} as const satisfies Record<string, Rollup>

export type RollupName = keyof typeof rollups
export const rollupNames = Object.keys(rollups) as RollupName[]

/**
 * The sums as they should be: account_id, the keys, every sum. Rows of one key are not yet added up.
 * @param span whole UTC days
 */
export function actualSums(name: RollupName, span: Span): Fragment {
  const isTracked = ch`NOT is_bot AND NOT is_test`
  return ch`${sumsOfRows(name, span, 'clicks', ch`clicked_at`, isTracked)}
UNION ALL${sumsOfRows(name, span, 'conversions', ch`converted_at`, ch`NOT is_test`)}`
}

/** The sums as they are stored, with the same columns; here too rows of one key are not yet added up. */
export function storedSums(name: RollupName, span: Span): Fragment {
  const { table, keys, within }: Rollup = rollups[name]
  return ch`
SELECT account_id, ${keys}, ${sumColumns}
FROM ${table}
WHERE account_id = ${text(span.accountId)} AND ${within(span)}`
}

function sumsOfRows(name: RollupName, span: Span, rows: RowKind, moment: Fragment, counts: Fragment): Fragment {
  const { keys, keysOf, expand: spread }: Rollup = rollups[name]
  return ch`
SELECT account_id, ${keysOf(moment)}, ${sumsOf(rows)}
FROM ${identifier(rows)} FINAL${spread}
WHERE account_id = ${text(span.accountId)}
  AND ${moment} >= ${instant(span.fromMs)}
  AND ${moment} < ${instant(span.untilMs)}
  AND ${counts}
GROUP BY account_id, ${keys}`
}
