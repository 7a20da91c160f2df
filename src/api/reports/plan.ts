import type { Dimension } from '../../../schema/dimensions.ts'
import { type Metric, metricNames } from '../../../schema/metrics.ts'
import { daysDefault } from '../../../schema/range.ts'
import { type ReportQuery, reportBucketsMax } from '../../../schema/report.ts'
import { Problem } from '../../problem.ts'
import { type ComparedPlan, type FactsCaller, planCompared } from '../../query/facts/comparedPlan.ts'

/** The order of a report's rows; equal rows are ordered by id. */
export interface ReportOrder {
  by: 'id' | Metric
  isDescending: boolean
}

export interface ReportPlan extends ComparedPlan {
  groupBy: string
  /** One to three. */
  dimensions: readonly Dimension[]
  /** Whether the request has `tz`. */
  hasTz: boolean
  order: ReportOrder
  limit: number
  /** Metrics of the response, in the order of the schema. */
  metrics: readonly Metric[]
}

/**
 * Builds the query plan of a report; no I/O.
 * @throws Problem as `planCompared`, or `invalid_group_by`
 */
export function planReport(query: ReportQuery, caller: FactsCaller, nowMs: number): ReportPlan {
  const dimensions = readDimensions(query.group_by)
  const wanted = query.metrics?.split(',')
  return {
    ...planCompared(query, dimensions, { name: 'A report', daysDefault }, caller, nowMs),
    groupBy: query.group_by,
    dimensions,
    hasTz: query.tz !== undefined,
    order: readOrder(query.sort ?? '-clicks'),
    limit: query.limit ?? reportBucketsMax,
    metrics: wanted ? metricNames.filter((name) => wanted.includes(name)) : metricNames,
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
