import type { Dimension } from '../../../schema/dimensions.ts'
import { type Metric, metricNames } from '../../../schema/metrics.ts'
import { type ReportQuery, reportBucketsMax, reportDaysDefault } from '../../../schema/report.ts'
import { Problem } from '../../problem.ts'
import { type ComparedPlan, planCompared } from '../../query/facts/comparedPlan.ts'
import { readFilters } from '../../query/filters.ts'
import { assertDaysAtMost, hoursDaysMax, type Range, rangeDaysMax, reportRange } from '../../query/timeRange.ts'
import { readTimeZone } from '../../query/timeZone.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

/** The order of a report's rows; equal rows are ordered by id. */
export interface ReportOrder {
  by: 'id' | Metric
  isDescending: boolean
}

/** Query plan of a report. */
export interface ReportPlan extends ComparedPlan {
  accountId: string
  currency: string
  /** As in the request. */
  groupBy: string
  /** One to three. */
  dimensions: readonly Dimension[]
  range: Range
  /** IANA name; undefined if the request has no `tz`. */
  tz: string | undefined
  order: ReportOrder
  limit: number
  /** Metrics of the response, in the order of the schema. */
  metrics: readonly Metric[]
  nowMs: number
}

/**
 * Builds the query plan of a report; no I/O.
 * @throws Problem `invalid_group_by`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, or
 *   `invalid_<filter>`
 */
export function planReport(
  query: ReportQuery,
  caller: { accountId: string; currency: string; retained: RetainedRanges },
  nowMs: number,
): ReportPlan {
  const dimensions = readDimensions(query.group_by)
  const zone = readTimeZone(query.tz ?? 'UTC')
  const range = reportRange(query, reportDaysDefault, zone, nowMs)
  const isByHour = dimensions.includes('hour')
  assertDaysAtMost(isByHour ? hoursDaysMax : rangeDaysMax, range, zone, isByHour ? 'A report by hour' : 'A report')
  const facts = { accountId: caller.accountId, range, zone, dimensions, filters: readFilters(query) }
  const wanted = new Set<string>(query.metrics?.split(','))
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    groupBy: query.group_by,
    dimensions,
    range,
    tz: query.tz === undefined ? undefined : zone,
    ...planCompared(facts, query.compare, caller.retained.clicksMs, nowMs),
    order: readOrder(query.sort ?? '-clicks'),
    limit: query.limit ?? reportBucketsMax,
    metrics: query.metrics === undefined ? metricNames : metricNames.filter((name) => wanted.has(name)),
    nowMs,
  }
}

function readDimensions(groupBy: string): Dimension[] {
  const dimensions = groupBy.split(',') as Dimension[]
  if (new Set(dimensions).size === dimensions.length) return dimensions
  throw new Problem('invalid_group_by', 'group_by contains a dimension twice.', { param: 'group_by' })
}

function readOrder(sort: string): ReportOrder {
  const isDescending = sort.startsWith('-')
  return { by: (isDescending ? sort.slice(1) : sort) as ReportOrder['by'], isDescending }
}
