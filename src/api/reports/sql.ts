import type { ClickHouseSettings } from '@clickhouse/client'
import type { Dimension } from '../../../schema/dimensions.ts'
import type { ReportMetric } from '../../../schema/metrics.ts'
import { reportBucketsMax } from '../../../schema/report.ts'
import { calendarOf } from '../../query/calendarIntervals.ts'
import { isInterval } from '../../query/comparison.ts'
import { isRatio, metricCondition, orderValue, shownMillionths } from '../../query/evaluateMetrics.ts'
import type { ComparedFacts, FactsPlan } from '../../query/facts/plan.ts'
import { bucketMetrics, factsSettings, groupedSums } from '../../query/facts/sql.ts'
import { aliasOf } from '../../query/metricDefinitions.ts'
import { ch, count, type Fragment, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import type { ReportPlan } from './plan.ts'

/**
 * The statement of a report.
 * @returns rows `id1`, …, one per dimension, and the sums of its metrics and of the order, in the order of the plan; with `reportSettings`
 *   totals include all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const { facts, metrics, order, offset, limit, metricConditions } = plan
  const withCompared =
    plan.compared && order.isChange && order.by !== 'id' ? comparedValues(plan.compared, order.by) : nothing
  const ofBuckets = bucketMetrics(facts, plan.view)
  const read = [...metrics, ...orderMetrics(plan), ...ofBuckets, ...metricConditions.map(({ metric }) => metric)]
  const { statement, ids } = groupedSums(facts, read)
  const isBucket = ofBuckets.map((metric) => ch`${aliasOf(metric)} != 0`)
  const conditions = [ch`(${join(isBucket, ' OR ')})`, ...metricConditions.map(metricCondition)]
  return ch`${withCompared}${statement}
WITH TOTALS
HAVING ${join(conditions, '\n  AND ')}
ORDER BY ${orderClause(plan, ids)}
LIMIT ${count(limit)}${offset === 0 ? nothing : ch` OFFSET ${count(offset)}`}`
}

/**
 * One statement of all groups of both ranges, since each statement takes milliseconds of planning. It has no conditions on groups, which take
 * longer, and reads two metrics that most buckets have.
 * @returns rows as `reportSql`, also rows of zeros; `isCompared` is 1 in rows of the compared range, which have no order
 */
export function allGroupsSql(plan: ReportPlan): Fragment {
  const metrics = [...plan.metrics, ...orderMetrics(plan), 'clicks', 'conversions'] as const
  const limit = ch`LIMIT ${count(reportBucketsMax + 1)}`
  const { statement, ids } = groupedSums(plan.facts, metrics, [ch`0 AS isCompared`])
  const all = ch`${statement}\nORDER BY ${orderClause(plan, ids)}\n${limit}`
  if (!plan.compared) return all
  return ch`(${all})\nUNION ALL\n(${groupedSums(plan.compared.facts, metrics, [ch`1 AS isCompared`]).statement}\n${limit})`
}

const orderMetrics = ({ order: { by } }: ReportPlan): ReportMetric[] => (by === 'id' ? [] : [by])

function orderClause(plan: ReportPlan, ids: readonly Fragment[]): Fragment {
  const { by, isDescending, isChange } = plan.order
  const direction = isDescending ? ch` DESC` : nothing
  const isHour = (index: number) => plan.dimensions[index] === 'hour' && plan.facts.offsets.length > 1
  // As text, +01:00 would precede +02:00, which is the earlier of two hours with one local time.
  const keys = ids.flatMap((id, index) => (isHour(index) ? [ch`parseDateTime64BestEffortOrZero(${id})`, id] : id))
  if (by === 'id') return join(keys.map((key) => ch`${key}${direction}`))
  const value = isChange ? ch`${shownMillionths(by)} - ${comparedValue(plan, by, ids)}` : orderValue(by)
  return join([ch`${value}${direction} NULLS LAST`, ...keys])
}

/** The key of a bucket: its ids, which have no NUL. */
const keyOf = (ids: readonly Fragment[]) => ch`concatWithSeparator('\\0', ${join(ids)})`

/** The values of a metric in the compared range, by the keys of its buckets: texts, empty for a null ratio. */
function comparedValues({ facts }: ComparedFacts, metric: ReportMetric): Fragment {
  const { statement, ids } = groupedSums(facts, [metric])
  return ch`
WITH (
  SELECT (groupArray(key), groupArray(value))
  FROM (
    SELECT ${keyOf(ids)} AS key, ifNull(toString(${shownMillionths(metric)}), '') AS value
    FROM (${statement})
  )
) AS compared`
}

/** The value of a metric of a bucket in the compared range; of no rows if that range lacks the bucket. Two hours can have one counterpart. */
function comparedValue({ dimensions, range, tz, compared }: ReportPlan, by: ReportMetric, ids: readonly Fragment[]) {
  const counterparts = ids.map((id, index) => {
    const dimension = dimensions[index] as Dimension
    if (!compared || !isInterval(dimension)) return id
    const units = calendarOf(dimension, range, tz).map((unit) => unit.id)
    // No id is empty.
    const comparedUnits = units.map((unit) => compared.counterpartOf(dimension, unit) ?? '')
    return ch`transform(${id}, ${texts(units)}, ${texts(comparedUnits)}, '')`
  })
  const ofNoRows = text(isRatio(by) ? '' : '0')
  return ch`toInt256OrNull(transform(${keyOf(counterparts)}, compared.1, compared.2, ${ofNoRows}))`
}

/**
 * The statement of some buckets of the compared range.
 * @param buckets ids, one per dimension; any number
 * @returns rows as `reportSql`, unordered; with `totalsSettings` totals include all buckets
 */
export function comparedSql(
  plan: FactsPlan,
  metrics: readonly ReportMetric[],
  buckets: readonly (readonly string[])[],
): Fragment {
  const { statement, ids } = groupedSums(plan, metrics)
  const lists = ids.map((_, index) => textList(buckets.map((bucket) => bucket[index] ?? '')))
  const wanted = lists.length === 1 ? (lists[0] as Fragment) : ch`arrayZip(${join(lists)})`
  return ch`${statement}
WITH TOTALS
HAVING (${join(ids)}) IN (SELECT arrayJoin(${wanted}))`
}

/** The settings of a report. @param isBoth whether the statement reads both ranges, as `reportSql` does for the order of a change */
export function reportSettings({ facts, compared, order }: ReportPlan, isBoth = order.isChange): ClickHouseSettings {
  const comparedParts = isBoth ? (compared?.facts.parts ?? []) : []
  return totalsSettings({ ...facts, parts: [...facts.parts, ...comparedParts] })
}

/** The settings of a statement with totals of all buckets. */
export function totalsSettings(facts: FactsPlan): ClickHouseSettings {
  return { ...factsSettings(facts), totals_mode: 'before_having' }
}
