import type { Dimension } from '../../../schema/dimensions.ts'
import type { ReportMetric } from '../../../schema/metrics.ts'
import { calendarOf } from '../../query/calendarIntervals.ts'
import { isInterval } from '../../query/comparison.ts'
import { isBucket, isRatio, metricCondition, orderValue, shownMillionths } from '../../query/evaluateMetrics.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { groupedSums } from '../../query/facts/sql.ts'
import { ch, count, type Fragment, identifier, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import { leastCounts, type ReportOrder, type ReportPlan } from './plan.ts'

/** The setting of statements with these totals. */
export const totalsOfAll = { totals_mode: 'before_having' } as const

/**
 * The statement of a report.
 * @returns rows `id1`, …, one per dimension, and the sums of its metrics and of the order, in the order of the plan; with `totalsOfAll`
 *   totals include all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const { facts, metrics, order, offset, limit, least, metricConditions } = plan
  const earlier =
    plan.previous && order.isChange && order.by !== 'id' ? earlierValues(plan, plan.previous, order.by) : nothing
  const compared = metricConditions.map(({ metric }) => metric)
  const { statement, ids } = groupedSums(facts, [...metrics, ...compared, ...(order.by === 'id' ? [] : [order.by])])
  const conditions = [
    ch`(${isBucket})`,
    ...leastCounts(least).map(([metric, value]) => ch`${identifier(metric)} >= ${count(value)}`),
    ...metricConditions.map(metricCondition),
  ]
  return ch`${earlier}${statement}
WITH TOTALS
HAVING ${join(conditions, '\n  AND ')}
ORDER BY ${orderClause(order, ids)}
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

function orderClause({ by, isDescending, isChange }: ReportOrder, ids: readonly Fragment[]): Fragment {
  const direction = isDescending ? ch` DESC` : nothing
  const byIds = ids.map((id) => ch`${id}${direction}`)
  if (by === 'id') return join(byIds)
  const value = isChange ? ch`${shownMillionths(by)} - ${earlierValue(by, ids)}` : orderValue(by)
  return join([ch`${value}${direction} NULLS LAST`, ...ids])
}

/** The key of a bucket: its ids, which have no NUL. */
const keyOf = (ids: readonly Fragment[]) => ch`concatWithSeparator('\\0', ${join(ids)})`

/** The values of a metric in the other range, by the keys of the buckets of this range: texts, empty for a null ratio. */
function earlierValues(
  { dimensions, range, tz }: ReportPlan,
  { facts, counterpartOf }: NonNullable<ReportPlan['previous']>,
  metric: ReportMetric,
): Fragment {
  const { statement, ids } = groupedSums(facts, [metric])
  const present = ids.map((id, index) => {
    const dimension = dimensions[index] as Dimension
    if (!isInterval(dimension)) return id
    const units = calendarOf(dimension, range, tz).map((unit) => [counterpartOf(dimension, unit.id), unit.id] as const)
    const known = units.filter((pair): pair is readonly [string, string] => pair[0] !== null)
    const [from, to] = [known.map(([other]) => other), known.map(([, own]) => own)]
    return known.length === 0 ? ch`''` : ch`transform(${id}, ${texts(from)}, ${texts(to)}, '')`
  })
  return ch`
WITH (
  SELECT (groupArray(key), groupArray(value))
  FROM (
    SELECT ${keyOf(present)} AS key, ifNull(toString(${shownMillionths(metric)}), '') AS value
    FROM (${statement})
  )
) AS earlier`
}

/** A bucket that the other range lacks has the value of no rows there. */
function earlierValue(metric: ReportMetric, ids: readonly Fragment[]): Fragment {
  const ofNoRows = text(isRatio(metric) ? '' : '0')
  return ch`toInt256OrNull(transform(${keyOf(ids)}, earlier.1, earlier.2, ${ofNoRows}))`
}
