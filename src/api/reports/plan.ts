import type { Dimension } from '../../../schema/dimensions.ts'
import { isNamedMetric, metricNames, type ReportMetric, reportMetricNames } from '../../../schema/metrics.ts'
import { type ReportQuery, reportBucketsMax } from '../../../schema/report.ts'
import { invalidParameter } from '../../problem.ts'
import { type FactsCaller, planMetrics } from '../../query/facts/plan.ts'
import type { MetricCondition } from '../../query/filterTree.ts'
import { isOfEvents } from '../../query/metricDefinitions.ts'
import { amountsShownAs } from '../../query/money.ts'

export type ReportPlan = Readonly<ReturnType<typeof planReport>>

/**
 * Builds the query plan of a report; no I/O.
 * @throws Problem as `planMetrics`, `invalid_group_by`, or `invalid_sort`
 */
export function planReport(query: ReportQuery, caller: FactsCaller, nowMs: number) {
  const dimensions = readDimensions(query.group_by)
  const wanted = query.metrics?.split(',') as readonly ReportMetric[] | undefined
  const named = wanted && [
    ...reportMetricNames.filter((name) => wanted.includes(name)),
    ...new Set(wanted.filter(isNamedMetric)),
  ]
  const order = readOrder(query.sort ?? `-${named?.every(isOfEvents) ? wanted?.[0] : 'clicks'}`)
  const least = [...leastCount('clicks', query.min_clicks), ...leastCount('conversions', query.min_conversions)]
  const ofBuckets = [...(order.by === 'id' ? [] : [order.by]), ...least.map(({ metric }) => metric)]
  const kind = { name: 'A report', metrics: [...(named ?? metricNames), ...ofBuckets], hasBuckets: true } as const
  const plan = planMetrics(query, dimensions, kind, caller, nowMs)
  if (order.isChange && !plan.compared) {
    throw invalidParameter('sort', 'by a change needs a comparison: compare, or compare_from and compare_to.')
  }
  const hasVisitors = plan.metricConditions.some(({ metric }) => metric === 'visitors')
  if (hasVisitors && !named?.includes('visitors')) {
    throw invalidParameter('filters', 'compares visitors, which metrics does not name.')
  }
  return {
    ...plan,
    query,
    /** One to three. */
    dimensions,
    /** The order of the rows; equal rows are ordered by id. */
    order,
    /** Rows of the order that are skipped. */
    offset: query.offset ?? 0,
    limit: query.limit ?? reportBucketsMax,
    metricConditions: [...plan.metricConditions, ...least],
    metrics: named ?? plan.metrics,
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

/** @returns `isChange`: whether the difference to the compared range is ordered */
function readOrder(sort: string) {
  const key = sort.replace(/^-/, '')
  const by = key.replace(/^change\./, '') as 'id' | ReportMetric
  return { by, isDescending: key !== sort, isChange: by !== key }
}
