import { rowTables } from '../../query/attributes.ts'
import { countedRows, type SumMetric, sumColumns, sumColumnsOf, sumMetrics } from '../../query/metricDefinitions.ts'
import { ch, day, type Fragment, identifier, instant, join, nothing } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { inAccounts } from '../tables/accountKeys.ts'

/** Rows of accounts in a time range, UTC, `until` exclusive. */
export interface Span {
  accountIds: readonly string[]
  fromMs: number
  untilMs: number
  /** Its clicks are removed, or none of the confirmed ones is left: their sums and index remain as they are. */
  lacksClicks?: boolean
}

/** Condition: a row of the accounts has its time in the span. */
export function inSpan({ accountIds, fromMs, untilMs }: Span, at: Fragment = ch`clicked_at`): Fragment {
  return ch`${inAccounts(accountIds)}
  AND ${at} >= ${instant(fromMs)}
  AND ${at} < ${instant(untilMs)}`
}

/** A table of sums over facts. Views update it at each insert. */
interface SumsTable {
  /** The key column that holds the time. */
  readonly at: Fragment
  /** The sort key without the account, in the order of the table. */
  readonly keys: Fragment
  /** The keys of a row, from the time at which it counts. */
  readonly keysOf: (time: Fragment) => Fragment
  /** ARRAY JOIN that makes one row per key of a fact. */
  readonly expand: Fragment
}

export const sumsTables = {
  sums_by_day: {
    at: ch`day`,
    keys: ch`dimension, day, value`,
    keysOf: (time) => ch`dimension, toDate(${time}) AS day, value`,
    expand: ch`
ARRAY JOIN
  ['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(campaign_id), toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value`,
  },
  sums_by_day_and_campaign: {
    at: ch`day`,
    keys: ch`dimension, campaign_id, day, value`,
    keysOf: (time) => ch`dimension, campaign_id, toDate(${time}) AS day, value`,
    expand: ch`
ARRAY JOIN
  ['country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source'] AS dimension,
  [toString(country), toString(device), toString(os), toString(browser), toString(offer_id),
   toString(landing_page_id), toString(traffic_source_id)] AS value`,
  },
  sums_by_quarter_hour: {
    at: ch`bucket`,
    keys: ch`bucket, campaign_id`,
    keysOf: (time) => ch`toStartOfFifteenMinutes(${time}) AS bucket, campaign_id`,
    expand: nothing,
  },
} as const satisfies Record<string, SumsTable>

export type SumsTableName = keyof typeof sumsTables
export const sumsTableNames = Object.keys(sumsTables) as SumsTableName[]

/** SELECT of the correct sums of whole UTC days: account_id, the keys, every sum. Rows with the same key are to be added up. */
export function actualSums(name: SumsTableName, span: Span): Fragment {
  const { keys, keysOf, expand }: SumsTable = sumsTables[name]
  const selects = rowTables.map((rows) => {
    const time = timeColumns[rows]
    return ch`
SELECT account_id, ${keysOf(time)}, ${sumColumnsOf(rows)}
FROM ${identifier(rows)} FINAL${expand}
WHERE ${join([inSpan(span, time), ...countedRows[rows]], '\n  AND ')}
GROUP BY account_id, ${keys}`
  })
  return join(selects, '\nUNION ALL\n')
}

/** The sums that can be computed from the rows of a span: with its clicks, the costs of that time are removed. */
export function comparedSums({ lacksClicks }: Span): readonly SumMetric[] {
  return lacksClicks ? sumMetrics.filter(({ ofRows }) => ofRows.conversions) : sumMetrics
}

/** SELECT of the stored sums, with the same columns; a key may have several rows here too. */
export function storedSums(name: SumsTableName, { accountIds, fromMs, untilMs }: Span): Fragment {
  const { keys, at } = sumsTables[name]
  return ch`
SELECT account_id, ${keys}, ${sumColumns}
FROM ${identifier(name)}
WHERE ${inAccounts(accountIds)} AND ${at} >= ${day(fromMs)} AND ${at} < ${day(untilMs)}`
}
