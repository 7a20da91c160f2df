import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dimension } from '../../../schema/dimensions.ts'
import { metricNames, type ReportMetric, reportMetricNames } from '../../../schema/metrics.ts'
import { daysDefault } from '../../../schema/range.ts'
import { type ReportQuery, type ReportResponse, reportBucketsMax } from '../../../schema/report.ts'
import type { RouteContext } from '../../http/context.ts'
import { invalidParameter } from '../../problem.ts'
import { calendarOf } from '../../query/calendarIntervals.ts'
import { isInterval } from '../../query/comparison.ts'
import {
  type ExactSums,
  isRatio,
  metricCondition,
  noSums,
  orderValue,
  readSums,
  type SumTexts,
  setMetrics,
  shownMillionths,
  toMetrics,
} from '../../query/evaluateMetrics.ts'
import {
  type ComparedPlan,
  comparedRangeFields,
  countAtFields,
  type FactsCaller,
  type FactsPlan,
  lacksAllRows,
  planCompared,
} from '../../query/facts/plan.ts'
import { factsSettings, groupedSums, isBucket } from '../../query/facts/sql.ts'
import type { MetricCondition } from '../../query/filterTree.ts'
import { amountsShownAs } from '../../query/money.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import { selectGroups } from '../../stores/clickhouse/select.ts'
import { ch, count, type Fragment, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'
import type { ClickHouse } from '../../stores/cluster/connection.ts'
import { nextQuery } from './nextQuery.ts'

/** The order of a report's rows; equal rows are ordered by id. */
export interface ReportOrder {
  by: 'id' | ReportMetric
  isDescending: boolean
  /** Whether the difference to the compared range is ordered. */
  isChange: boolean
}

export interface ReportPlan extends ComparedPlan {
  query: ReportQuery
  /** One to three. */
  dimensions: readonly Dimension[]
  order: ReportOrder
  /** Rows of the order that are skipped. */
  offset: number
  limit: number
  /** Metrics of the response, in the order of the schema. */
  metrics: readonly ReportMetric[]
}

/**
 * Builds the query plan of a report; no I/O.
 * @throws Problem as `planCompared`, `invalid_group_by`, or `invalid_sort`
 */
export function planReport(query: ReportQuery, caller: FactsCaller, nowMs: number): ReportPlan {
  const dimensions = readDimensions(query.group_by)
  const wanted = query.metrics?.split(',')
  const metrics = wanted ? reportMetricNames.filter((name) => wanted.includes(name)) : metricNames
  const order = readOrder(query.sort ?? '-clicks')
  const countsVisitors = order.by === 'visitors' || metrics.includes('visitors')
  const kind = { name: 'A report', daysDefault, countsVisitors, hasBuckets: true } as const
  const plan = planCompared(query, dimensions, kind, caller, nowMs)
  if (order.isChange && !plan.compared) {
    throw invalidParameter('sort', 'by a change needs a comparison: compare, or compare_from and compare_to.')
  }
  const hasVisitors = plan.metricConditions.some(({ metric }) => metric === 'visitors')
  if (hasVisitors && !metrics.includes('visitors')) {
    throw invalidParameter('filters', 'compares visitors, which metrics does not name.')
  }
  return {
    ...plan,
    query,
    dimensions,
    order,
    offset: query.offset ?? 0,
    limit: query.limit ?? reportBucketsMax,
    metricConditions: [
      ...plan.metricConditions,
      ...leastCount('clicks', query.min_clicks),
      ...leastCount('conversions', query.min_conversions),
    ],
    metrics,
  }
}

function leastCount(metric: 'clicks' | 'conversions', least: number | undefined): MetricCondition[] {
  return least === undefined ? [] : [{ metric, operator: '>=', ...amountsShownAs(least) }]
}

function readDimensions(groupBy: string): Dimension[] {
  const dimensions = groupBy.split(',') as Dimension[]
  if (new Set(dimensions).size === dimensions.length) return dimensions
  throw invalidParameter('group_by', 'contains a dimension twice.')
}

function readOrder(sort: string): ReportOrder {
  const key = sort.replace(/^-/, '')
  const by = key.replace(/^change\./, '') as ReportOrder['by']
  return { by, isDescending: key !== sort, isChange: by !== key }
}

type ReportRow = ReportResponse['data'][number]

/**
 * Executes a report and adds the names of its buckets.
 * @returns up to `limit` rows; totals and bucketCount include all buckets
 */
export async function runReport(
  { stores, nameCache }: Pick<RouteContext, 'stores' | 'nameCache'>,
  plan: ReportPlan,
  signal: AbortSignal,
): Promise<ReportResponse> {
  const { facts, metrics } = plan
  const { clickhouse } = stores
  // The values of the compared range, by whose change the rows are ordered, are read by the same statement.
  const comparedParts = plan.order.isChange ? (plan.compared?.facts.parts ?? []) : []
  const allFacts = { ...facts, parts: [...facts.parts, ...comparedParts] }
  const { buckets, totals, bucketCount } = await readBuckets(clickhouse, 'reports', reportSql(plan), allFacts, signal)
  const [compared, ...nameFunctions] = await Promise.all([
    plan.compared && readCompared(clickhouse, plan, plan.compared, buckets, signal),
    ...plan.dimensions.map((dimension, index) => {
      const ids = buckets.map((bucket) => bucket.ids[index] ?? '')
      return readNames(nameCache, plan.accountId, dimension, ids)
    }),
  ])
  await nextTurn()
  const blank = blankReportRow(plan)
  const truncated = bucketCount > plan.offset + buckets.length
  return {
    groupBy: plan.query.group_by,
    ...rangeTexts(plan.range),
    ...(plan.query.tz !== undefined && { tz: plan.tz }),
    currency: plan.currency,
    ...countAtFields(plan),
    data: buckets.map(({ ids, sums }, index) => {
      const row: ReportRow = { ...blank }
      setLabels(row, plan, ids, nameFunctions)
      setMetrics(row, sums, metrics)
      if (compared) row.previous = compared.rows[index] as NonNullable<ReportRow['previous']>
      return row
    }),
    totals: toMetrics(totals, metrics),
    ...(compared && { previous: compared.response }),
    ...plan.retained,
    bucketCount,
    truncated,
    next: truncated ? nextQuery(plan, buckets.length) : null,
    dataThrough: plan.dataThrough,
    asOf: toInstantText(plan.nowMs),
  }
}

/** Has the properties of a row in the order of the response: copies of it are faster than objects that properties are added to. */
function blankReportRow({ metrics, compared }: ReportPlan): ReportRow {
  const names = ['id', 'name', 'dimensions', ...metrics, ...(compared ? ['previous'] : [])]
  return Object.fromEntries(names.map((name) => [name, null])) as unknown as ReportRow
}

function setLabels(
  row: ReportRow,
  { dimensions }: ReportPlan,
  ids: readonly string[],
  names: readonly ((id: string) => string | null)[],
): void {
  const labels = ids.map((id, index) => ({ id, name: names[index]?.(id) ?? null }))
  row.id = bucketId(ids)
  row.name = labels.length === 1 ? (labels[0]?.name ?? null) : labels.map(({ id, name }) => name ?? id).join(' / ')
  row.dimensions = Object.fromEntries(labels.map((label, index) => [dimensions[index] as string, label]))
}

function bucketId(ids: readonly string[]): string {
  const [id = ''] = ids
  return ids.length === 1 ? id : JSON.stringify(ids)
}

interface Bucket {
  ids: readonly string[]
  sums: ExactSums
}

/** @returns the buckets that a statement selects, and the totals and the number of all */
async function readBuckets(
  clickhouse: ClickHouse,
  label: string,
  query: Fragment,
  plan: FactsPlan,
  signal: AbortSignal,
): Promise<{ buckets: Bucket[]; totals: ExactSums; bucketCount: number }> {
  type Row = SumTexts & { id1: string; id2?: string; id3?: string }
  const settings = { ...factsSettings(plan), ...totalsOfAll }
  const { rows, totals, groupCount } = await selectGroups<Row>(clickhouse, query, { label, signal, settings })
  await nextTurn()
  const buckets = rows.map(({ id1, id2, id3, ...sums }) => ({
    ids: [id1, id2, id3].filter((id) => id !== undefined),
    sums: readSums(sums),
  }))
  return { buckets, totals: readSums(totals), bucketCount: groupCount }
}

/**
 * The statement of a report.
 * @returns rows `id1`, …, one per dimension, and the sums of its metrics and of the order, in the order of the plan; with `totalsOfAll`
 *   totals include all buckets
 */
export function reportSql(plan: ReportPlan): Fragment {
  const { facts, metrics, order, offset, limit, metricConditions } = plan
  const withCompared =
    plan.compared && order.isChange && order.by !== 'id' ? comparedValues(plan.compared, order.by) : nothing
  const filtered = metricConditions.map(({ metric }) => metric)
  const { statement, ids } = groupedSums(facts, [...metrics, ...filtered, ...(order.by === 'id' ? [] : [order.by])])
  const conditions = [ch`(${isBucket})`, ...metricConditions.map(metricCondition)]
  return ch`${withCompared}${statement}
WITH TOTALS
HAVING ${join(conditions, '\n  AND ')}
ORDER BY ${orderClause(plan, ids)}
LIMIT ${count(limit)}${offset === 0 ? nothing : ch` OFFSET ${count(offset)}`}`
}

function orderClause(plan: ReportPlan, ids: readonly Fragment[]): Fragment {
  const { by, isDescending, isChange } = plan.order
  const direction = isDescending ? ch` DESC` : nothing
  const byIds = ids.map((id) => ch`${id}${direction}`)
  if (by === 'id') return join(byIds)
  const value = isChange ? ch`${shownMillionths(by)} - ${comparedValue(plan, by, ids)}` : orderValue(by)
  return join([ch`${value}${direction} NULLS LAST`, ...ids])
}

/** The key of a bucket: its ids, which have no NUL. */
const keyOf = (ids: readonly Fragment[]) => ch`concatWithSeparator('\\0', ${join(ids)})`

/** The values of a metric in the compared range, by the keys of its buckets: texts, empty for a null ratio. */
function comparedValues({ facts }: NonNullable<ReportPlan['compared']>, metric: ReportMetric): Fragment {
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

async function readCompared(
  clickhouse: ClickHouse,
  { dimensions, metrics, nowMs }: ReportPlan,
  compared: NonNullable<ReportPlan['compared']>,
  buckets: readonly Bucket[],
  signal: AbortSignal,
) {
  const { facts, counterpartOf } = compared
  const counterparts = buckets.map(({ ids }) => {
    const comparedIds = ids.map((id, index) => counterpartOf(dimensions[index] as Dimension, id))
    return comparedIds.every((id) => id !== null) ? comparedIds : null
  })
  const wanted = counterparts.filter((ids) => ids !== null)
  const query = comparedSql(facts, metrics, wanted)
  const { buckets: comparedBuckets, totals } = await readBuckets(clickhouse, 'reports.previous', query, facts, signal)
  // No id has NUL.
  const sumsByKey = new Map(comparedBuckets.map(({ ids, sums }) => [ids.join('\0'), sums]))
  await nextTurn()
  return {
    response: {
      ...comparedRangeFields(compared, nowMs),
      totals: lacksAllRows(facts) ? null : toMetrics(totals, metrics),
    },
    rows: counterparts.map((ids) => {
      const sums = ids ? sumsByKey.get(ids.join('\0')) : undefined
      return { id: ids && bucketId(ids), ...toMetrics(sums ?? noSums, metrics) }
    }),
  }
}

/**
 * The statement of some buckets of the compared range.
 * @param buckets ids, one per dimension; any number
 * @returns rows as `reportSql`, unordered; with `totalsOfAll` totals include all buckets
 */
function comparedSql(
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

/** The setting of statements with these totals. */
const totalsOfAll = { totals_mode: 'before_having' } as const
