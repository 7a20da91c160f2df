import { notSet, reportBucketsMax } from '../../schema/report.ts'
import { factColumns, sumColumns } from '../metrics.ts'
import { ch, count, day, type Fragment, identifier, instant, join, nothing, text } from '../sql/fragment.ts'
import type { Range } from '../time/range.ts'
import type { ReportPlan } from './plan.ts'

/**
 * The whole report in one question: facts of clicks and of conversions by bucket, put together and summed.
 * Counts neither bots nor tests; a conversion counts by its own `isTest` and belongs to the moment it converted.
 * @returns rows `id` and every metric, clicks descending, then id; totals are over all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const sources = [
    ...(plan.cut.days ? [wholeDays(plan, plan.cut.days)] : []),
    ...plan.cut.edges.map((edge) => rawClicks(plan, edge)),
    conversions(plan),
  ]
  return ch`
SELECT
  if(facts.bucket = '', ${text(notSet)}, facts.bucket) AS id,
  ${sumColumns}
FROM (
${join(sources, '\nUNION ALL\n')}
) AS facts
GROUP BY id
WITH TOTALS
ORDER BY clicks DESC, id ASC
LIMIT ${count(reportBucketsMax)}`
}

/**
 * Whole UTC days, from the rollup that is smallest for the question: the one by campaign only when one campaign is
 * asked for, and not even then when the campaign is the value itself. A repair may leave cells of zero until the next merge: they are no buckets.
 */
function wholeDays(plan: ReportPlan, days: Range): Fragment {
  const { dimension, campaignId, groupBy } = plan
  const bucket = groupBy === 'day' ? ch`toString(day)` : ch`value`
  const isByDay = groupBy === 'day' || groupBy === 'campaign'
  const isFromCampaigns = campaignId !== undefined && !isByDay
  const rollupDimension = campaignId !== undefined && isByDay ? 'campaign' : dimension.rollupDimension
  return ch`
SELECT ${bucket} AS bucket, ${factColumns('rollup')}
FROM ${identifier(isFromCampaigns ? 'report_daily_by_campaign' : 'report_daily')} AS rollup
WHERE account_id = ${text(plan.accountId)}
  AND dimension = ${text(rollupDimension)}
  AND day >= ${day(days.fromMs)} AND day < ${day(days.untilMs)}${
    campaignId === undefined
      ? nothing
      : ch`
  AND ${isFromCampaigns ? ch`campaign_id` : ch`value`} = ${text(campaignId)}`
  }
GROUP BY bucket
HAVING sum(rollup.clicks) != 0`
}

/** Part of a day, from the clicks themselves. */
function rawClicks(plan: ReportPlan, range: Range): Fragment {
  return ch`
SELECT ${bucketOf(plan, ch`clicked_at`)} AS bucket, ${factColumns('clicks')}
FROM clicks FINAL
WHERE account_id = ${text(plan.accountId)}
  AND clicked_at >= ${instant(range.fromMs)} AND clicked_at < ${instant(range.untilMs)}
  AND NOT is_bot AND NOT is_test${ofCampaign(plan)}
GROUP BY bucket`
}

/** FINAL collapses the versions of a conversion before anything is filtered that a later version may have changed. */
function conversions(plan: ReportPlan): Fragment {
  return ch`
SELECT ${bucketOf(plan, ch`converted_at`)} AS bucket, ${factColumns('conversions')}
FROM conversions FINAL
WHERE account_id = ${text(plan.accountId)}
  AND converted_at >= ${instant(plan.range.fromMs)} AND converted_at < ${instant(plan.range.untilMs)}
  AND NOT is_test${ofCampaign(plan)}
GROUP BY bucket`
}

function bucketOf({ dimension }: ReportPlan, at: Fragment): Fragment {
  return dimension.column === undefined ? ch`toString(toDate(${at}))` : ch`toString(${identifier(dimension.column)})`
}

function ofCampaign({ campaignId }: ReportPlan): Fragment {
  return campaignId === undefined
    ? nothing
    : ch`
  AND campaign_id = ${text(campaignId)}`
}
