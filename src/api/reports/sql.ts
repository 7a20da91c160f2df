import type { ReportMetric } from '../../../schema/metrics.ts'
import { isBucket, orderValue, selectedSums } from '../../query/evaluateMetrics.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { factsOf, idOf } from '../../query/facts/sql.ts'
import { ch, count, type Fragment, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import { leastCounts, type ReportOrder, type ReportPlan } from './plan.ts'

/** The setting of statements with these totals. */
export const totalsOfAll = { totals_mode: 'before_having' } as const

/**
 * The statement of a report.
 * @param metrics of the response and of the order
 * @returns rows `id1`, …, one per dimension, and the sums of its metrics, in the order of the plan; with `totalsOfAll`
 *   totals include all buckets
 */
export function reportSql(
  { facts, order, offset, limit, least }: ReportPlan,
  metrics: readonly ReportMetric[],
): Fragment {
  const { select, ids } = bucketsOf(facts, metrics)
  const conditions = [
    ch`(${isBucket})`,
    ...leastCounts(least).map(([metric, value]) => ch`${identifier(metric)} >= ${count(value)}`),
  ]
  return ch`${select}
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
  const { select, ids } = bucketsOf(facts, metrics)
  const lists = ids.map((_, index) => textList(buckets.map((bucket) => bucket[index] ?? '')))
  const wanted = lists.length === 1 ? (lists[0] as Fragment) : ch`arrayZip(${join(lists)})`
  return ch`${select}
HAVING (${join(ids)}) IN (SELECT arrayJoin(${wanted}))`
}

/** @returns a SELECT up to its GROUP BY, and the names of its ids */
function bucketsOf(facts: FactsPlan, metrics: readonly ReportMetric[]): { select: Fragment; ids: Fragment[] } {
  const { from, keys } = factsOf(facts)
  const ids = keys.map((_, index) => identifier(`id${index + 1}`))
  const selectedIds = facts.dimensions.map(
    (dimension, index) => ch`${idOf(dimension, keys[index] as Fragment, facts)} AS ${ids[index] as Fragment}`,
  )
  return {
    ids,
    select: ch`
SELECT
  ${join(selectedIds, ',\n  ')},
  ${selectedSums(metrics)}
FROM ${from}
GROUP BY ${join(keys)}
WITH TOTALS`,
  }
}

function orderClause({ by, isDescending }: ReportOrder, ids: readonly Fragment[]): Fragment {
  const direction = isDescending ? ch` DESC` : nothing
  const byIds = ids.map((id) => ch`${id}${direction}`)
  return join(by === 'id' ? byIds : [ch`${orderValue(by)}${direction} NULLS LAST`, ...ids])
}
