import { notSet, reportBucketsMax } from '../../../schema/report.ts'
import { isBucket, type RowKind, selectedSums, sumColumns, sumsOf } from '../../query/metrics.ts'
import type { Range } from '../../query/timeRange.ts'
import { ch, count, day, type Fragment, identifier, instant, join, nothing, text } from '../../stores/clickhouse/sql.ts'
import type { ReportPlan } from './plan.ts'

/**
 * The whole report in one question. Counts neither bots nor tests; a conversion counts by its own `isTest` and belongs to
 * the moment it converted.
 * @returns rows `id` and every metric, clicks descending, then id; totals are over all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const { bucket, from } =
    plan.cut.edges.length === 0 && plan.cut.days ? wholeDays(plan, plan.cut.days) : withEdges(plan)
  return ch`
SELECT
  if(${bucket} = '', ${text(notSet)}, ${bucket}) AS id,
  ${selectedSums}
FROM ${from}
GROUP BY id
WITH TOTALS
HAVING ${isBucket}
ORDER BY clicks DESC, id ASC
LIMIT ${count(reportBucketsMax)}`
}

/** What a report is summed from, called `facts`, and what stands for a bucket there. */
interface Facts {
  bucket: Fragment
  from: Fragment
}

/**
 * Whole UTC days, from the table of sums that is smallest for the question: the one by campaign only when one campaign
 * is asked for, and not even then when the campaign is the value itself. Read as it is: a subquery takes a millisecond.
 */
function wholeDays(plan: ReportPlan, days: Range): Facts {
  const { dimension, campaignId, groupBy } = plan
  const isByDay = groupBy === 'day' || groupBy === 'campaign'
  const isFromCampaigns = campaignId !== undefined && !isByDay
  const summedDimension = campaignId !== undefined && isByDay ? 'campaign' : dimension.summedDimension
  return {
    bucket: groupBy === 'day' ? ch`toString(facts.day)` : ch`facts.value`,
    from: ch`${identifier(isFromCampaigns ? 'sums_by_day_and_campaign' : 'sums_by_day')} AS facts
WHERE account_id = ${text(plan.accountId)}
  AND dimension = ${text(summedDimension)}
  AND day >= ${day(days.fromMs)} AND day < ${day(days.untilMs)}${
    campaignId === undefined
      ? nothing
      : ch`
  AND ${isFromCampaigns ? ch`campaign_id` : ch`value`} = ${text(campaignId)}`
  }`,
  }
}

/** Whole days, if there are any, and the parts of days at either end. */
function withEdges(plan: ReportPlan): Facts {
  const { days, edges } = plan.cut
  const sources = edges.flatMap((edge) => [rows(plan, edge, 'clicks'), rows(plan, edge, 'conversions')])
  if (days) {
    const { bucket, from } = wholeDays(plan, days)
    sources.push(ch`
SELECT ${bucket} AS bucket, ${sumColumns}
FROM ${from}`)
  }
  return {
    bucket: ch`facts.bucket`,
    from: ch`(${join(sources, '\nUNION ALL\n')}
) AS facts`,
  }
}

/** Part of a day, from the rows themselves. FINAL comes before any filter on what a later version may have changed. */
function rows({ accountId, dimension, campaignId }: ReportPlan, { fromMs, untilMs }: Range, kind: RowKind): Fragment {
  const at = kind === 'clicks' ? ch`clicked_at` : ch`converted_at`
  const bucket = dimension.column === undefined ? ch`toDate(${at})` : identifier(dimension.column)
  return ch`
SELECT toString(${bucket}) AS bucket, ${sumsOf(kind)}
FROM ${identifier(kind)} FINAL
WHERE account_id = ${text(accountId)}
  AND ${at} >= ${instant(fromMs)} AND ${at} < ${instant(untilMs)}
  AND NOT is_test${kind === 'clicks' ? ch` AND NOT is_bot` : nothing}${
    campaignId === undefined
      ? nothing
      : ch`
  AND campaign_id = ${text(campaignId)}`
  }
GROUP BY bucket`
}
