import type { Dimension } from '../../../schema/dimensions.ts'
import type { ReportMetric } from '../../../schema/metrics.ts'
import { calendarOf } from '../../query/calendarIntervals.ts'
import { isInterval } from '../../query/comparison.ts'
import { isRatio, metricCondition, orderValue, shownMillionths } from '../../query/evaluateMetrics.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { groupedSums, isBucket } from '../../query/facts/sql.ts'
import { ch, count, type Fragment, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import type { ReportPlan } from './plan.ts'

/** The setting of statements with these totals. */
export const totalsOfAll = { totals_mode: 'before_having' } as const

/**
 * The statement of a report.
 * @returns rows `id1`, …, one per dimension, and the sums of its metrics and of the order, in the order of the plan; with `totalsOfAll`
 *   totals include all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const { facts, metrics, order, offset, limit, metricConditions } = plan
  const earlier =
    plan.previous && order.isChange && order.by !== 'id' ? earlierValues(plan.previous, order.by) : nothing
  const compared = metricConditions.map(({ metric }) => metric)
  const { statement, ids } = groupedSums(facts, [...metrics, ...compared, ...(order.by === 'id' ? [] : [order.by])])
  const conditions = [ch`(${isBucket})`, ...metricConditions.map(metricCondition)]
  return ch`${earlier}${statement}
WITH TOTALS
HAVING ${join(conditions, '\n  AND ')}
ORDER BY ${orderClause(plan, ids)}
LIMIT ${count(limit)}${offset === 0 ? nothing : ch` OFFSET ${count(offset)}`}`
}

/**
 * The statement of some buckets of the earlier range.
 * @param buckets ids, one per dimension; any number
 * @returns rows as `reportSql`, unordered; with `totalsOfAll` totals include all buckets
 */
export function previousSql(
  facts: FactsPlan,
  metrics: readonly ReportMetric[],
  buckets: readonly (readonly string[])[],
): Fragment {
  const { statement, ids } = groupedSums(facts, metrics)
  const lists = ids.map((_, index) => textList(buckets.map((bucket) => bucket[index] ?? '')))
  const wanted = lists.length === 1 ? (lists[0] as Fragment) : ch`arrayZip(${join(lists)})`
  return ch`${statement}
WITH TOTALS
HAVING (${join(ids)}) IN (SELECT arrayJoin(${wanted}))`
}

function orderClause(plan: ReportPlan, ids: readonly Fragment[]): Fragment {
  const { by, isDescending, isChange } = plan.order
  const direction = isDescending ? ch` DESC` : nothing
  const byIds = ids.map((id) => ch`${id}${direction}`)
  if (by === 'id') return join(byIds)
  const value = isChange ? ch`${shownMillionths(by)} - ${earlierValue(plan, by, ids)}` : orderValue(by)
  return join([ch`${value}${direction} NULLS LAST`, ...ids])
}

/** The key of a bucket: its ids, which have no NUL. */
const keyOf = (ids: readonly Fragment[]) => ch`concatWithSeparator('\\0', ${join(ids)})`

/** The values of a metric in the other range, by the keys of its buckets: texts, empty for a null ratio. */
function earlierValues({ facts }: NonNullable<ReportPlan['previous']>, metric: ReportMetric): Fragment {
  const { statement, ids } = groupedSums(facts, [metric])
  return ch`
WITH (
  SELECT (groupArray(key), groupArray(value))
  FROM (
    SELECT ${keyOf(ids)} AS key, ifNull(toString(${shownMillionths(metric)}), '') AS value
    FROM (${statement})
  )
) AS earlier`
}

/** The value of a bucket in the other range; of no rows if that range lacks the bucket. Two hours can have one counterpart. */
function earlierValue({ dimensions, range, tz, previous }: ReportPlan, metric: ReportMetric, ids: readonly Fragment[]) {
  const counterparts = ids.map((id, index) => {
    const dimension = dimensions[index] as Dimension
    if (!previous || !isInterval(dimension)) return id
    const units = calendarOf(dimension, range, tz).map((unit) => unit.id)
    // No id is empty.
    const others = units.map((unit) => previous.counterpartOf(dimension, unit) ?? '')
    return ch`transform(${id}, ${texts(units)}, ${texts(others)}, '')`
  })
  const ofNoRows = text(isRatio(metric) ? '' : '0')
  return ch`toInt256OrNull(transform(${keyOf(counterparts)}, earlier.1, earlier.2, ${ofNoRows}))`
}
