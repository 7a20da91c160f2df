import { type RowKind, selectedSums, sumsOf } from '../../query/metrics.ts'
import { ch, type Fragment, identifier, instant, join, nothing, seconds, text } from '../../stores/clickhouse/sql.ts'
import type { StatsPlan } from './plan.ts'

/** What one row of `sums_by_quarter_hour` stands for, in milliseconds. */
const bucketMs = 900_000

/**
 * The daily series in one question.
 * @returns rows `startS` (first moment of the day, epoch seconds) and every metric; none for a day without anything
 */
export function dailySql(plan: StatsPlan): Fragment {
  // The last start that is not after the moment: a binary search, whatever lengths the days have.
  const startS = ch`roundDown(toUnixTimestamp(facts.bucket), ${seconds(plan.days.map(({ fromMs }) => fromMs))})`
  return ch`
SELECT
  ${startS} AS startS,
  ${selectedSums}
FROM ${facts(plan)}
GROUP BY startS`
}

/** The same numbers over the whole window. @returns one row with every metric */
export function totalsSql(plan: StatsPlan): Fragment {
  return ch`
SELECT
  ${selectedSums}
FROM ${facts(plan)}`
}

/**
 * What a window is summed from, `facts`: the sums by quarter of an hour where every day begins on one, as all do in
 * every zone since 1972; else the rows themselves, by the second.
 */
function facts(plan: StatsPlan): Fragment {
  const isOnQuarters = [...plan.days, { fromMs: plan.range.untilMs }].every(({ fromMs }) => fromMs % bucketMs === 0)
  return isOnQuarters
    ? ch`sums_by_quarter_hour AS facts
WHERE ${inWindow(plan, ch`bucket`)}`
    : ch`(${join([rows(plan, 'clicks'), rows(plan, 'conversions')], '\nUNION ALL\n')}
) AS facts`
}

/** FINAL comes before any filter on what a later version may have changed. */
function rows(plan: StatsPlan, kind: RowKind): Fragment {
  const at = kind === 'clicks' ? ch`clicked_at` : ch`converted_at`
  return ch`
SELECT toStartOfSecond(${at}) AS bucket, ${sumsOf(kind)}
FROM ${identifier(kind)} FINAL
WHERE ${inWindow(plan, at)}
  AND NOT is_test${kind === 'clicks' ? ch` AND NOT is_bot` : nothing}
GROUP BY bucket`
}

function inWindow({ accountId, range, campaignId }: StatsPlan, at: Fragment): Fragment {
  return join(
    [
      ch`account_id = ${text(accountId)}`,
      ch`${at} >= ${instant(range.fromMs)}`,
      ch`${at} < ${instant(range.untilMs)}`,
      ...(campaignId === undefined ? [] : [ch`campaign_id = ${text(campaignId)}`]),
    ],
    '\n  AND ',
  )
}
