import type { ReportMetric } from '../../../schema/metrics.ts'
import { isBucket, metricCondition, orderValue } from '../../query/evaluateMetrics.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { groupedSums } from '../../query/facts/sql.ts'
import { ch, count, type Fragment, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
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
  const compared = metricConditions.map(({ metric }) => metric)
  const { statement, ids } = groupedSums(facts, [...metrics, ...compared, ...(order.by === 'id' ? [] : [order.by])])
  const conditions = [
    ch`(${isBucket})`,
    ...leastCounts(least).map(([metric, value]) => ch`${identifier(metric)} >= ${count(value)}`),
    ...metricConditions.map(metricCondition),
  ]
  return ch`${statement}
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

function orderClause({ by, isDescending }: ReportOrder, ids: readonly Fragment[]): Fragment {
  const direction = isDescending ? ch` DESC` : nothing
  const byIds = ids.map((id) => ch`${id}${direction}`)
  return join(by === 'id' ? byIds : [ch`${orderValue(by)}${direction} NULLS LAST`, ...ids])
}
