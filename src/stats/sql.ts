import { factColumns, sumColumns } from '../metrics.ts'
import { ch, type Fragment, instant, join, nothing, seconds, text } from '../sql/fragment.ts'
import type { StatsPlan } from './plan.ts'

/** What one row of `clicks_by_quarter_hour` stands for, in milliseconds. */
const bucketMs = 900_000

/** How facts are told apart: a column that begins a select list, and the clause that goes with it. */
interface Slices {
  column: (at: Fragment) => Fragment
  groupBy: Fragment
}

/**
 * The daily series in one question: facts of clicks and of conversions by local day, put together and summed.
 * @returns rows `startS` (first moment of the day, epoch seconds) and every metric; one for every day, oldest first
 */
export function dailySql(plan: StatsPlan): Fragment {
  const starts = seconds(plan.days.map(({ fromMs }) => fromMs))
  const byDay: Slices = {
    // The last start that is not after the moment: a binary search, whatever lengths the days have.
    column: (at) => ch`roundDown(toUnixTimestamp(${at}), ${starts}) AS startS, `,
    groupBy: ch`
GROUP BY startS`,
  }
  const everyDay = ch`
SELECT arrayJoin(${starts}) AS startS, ${factColumns('nowhere')}`
  return ch`
SELECT
  startS,
  ${sumColumns}
FROM (
${join([everyDay, clicks(plan, byDay), conversions(plan, byDay)], '\nUNION ALL\n')}
) AS facts
GROUP BY startS
ORDER BY startS`
}

/** The same numbers over the whole window. @returns one row with every metric */
export function totalsSql(plan: StatsPlan): Fragment {
  const whole: Slices = { column: () => nothing, groupBy: nothing }
  return ch`
SELECT
  ${sumColumns}
FROM (
${join([clicks(plan, whole), conversions(plan, whole)], '\nUNION ALL\n')}
) AS facts`
}

/**
 * From the rollup where every day begins on a quarter of an hour, as all do in every zone since 1972; else from the
 * clicks themselves.
 */
function clicks(plan: StatsPlan, slices: Slices): Fragment {
  const isOnQuarters = [...plan.days, { fromMs: plan.range.untilMs }].every(({ fromMs }) => fromMs % bucketMs === 0)
  return isOnQuarters
    ? ch`
SELECT ${slices.column(ch`bucket`)}${factColumns('rollup')}
FROM clicks_by_quarter_hour AS rollup
WHERE ${inWindow(plan, ch`bucket`)}${slices.groupBy}`
    : ch`
SELECT ${slices.column(ch`clicked_at`)}${factColumns('clicks')}
FROM clicks FINAL
WHERE ${inWindow(plan, ch`clicked_at`)}
  AND NOT is_bot AND NOT is_test${slices.groupBy}`
}

/** FINAL collapses the versions of a conversion before anything is filtered that a later version may have changed. */
function conversions(plan: StatsPlan, slices: Slices): Fragment {
  return ch`
SELECT ${slices.column(ch`converted_at`)}${factColumns('conversions')}
FROM conversions FINAL
WHERE ${inWindow(plan, ch`converted_at`)}
  AND NOT is_test${slices.groupBy}`
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
