import type { Dimension } from '../../../schema/dimensions.ts'
import { namesInTree } from '../../../schema/filters.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import { type ComparedRange, otherRange, previousRange, previousUnit } from '../comparison.ts'
import { type FilterQuery, readAllFilters } from '../filters.ts'
import type { MetricCondition } from '../filterTree.ts'
import { type RetainedFrom, retainedFrom } from '../retained.ts'
import {
  type ComparisonQuery,
  comparedRange,
  hoursDaysMax,
  type LocalRangeQuery,
  localRange,
  type Range,
  rangeDaysMax,
  rangeTexts,
} from '../timeRange.ts'
import { type FactsPlan, planFacts } from './plan.ts'

export interface ComparedPlan {
  accountId: string
  currency: string
  range: Range
  /** IANA name of the time zone; UTC if the request has none. */
  tz: string
  facts: FactsPlan
  /** With `compare` or `compare_from`: the other range. */
  previous: (ComparedRange & { facts: FactsPlan }) | undefined
  retained: RetainedFrom
  /** Conditions on the metrics of buckets, combined with AND. */
  metricConditions: readonly MetricCondition[]
  nowMs: number
}

export interface FactsCaller {
  accountId: string
  currency: string
  retained: RetainedRanges
}

/**
 * Reads range, filters and comparison, and selects the tables; no I/O.
 * @param dimensions what the sums are grouped by
 * @param kind what error messages call the request, whether it counts visitors, and whether metrics of its buckets can be filtered
 * @throws Problem `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, `invalid_compare_from`,
 *   `invalid_compare_to`, `invalid_filters`, or `invalid_<filter>`
 */
export function planCompared(
  query: LocalRangeQuery & FilterQuery & ComparisonQuery,
  dimensions: readonly Dimension[],
  kind: { name: string; daysDefault: number; countsVisitors?: boolean; hasBuckets?: true },
  { accountId, currency, retained }: FactsCaller,
  nowMs: number,
): ComparedPlan {
  const isByHour = dimensions.includes('hour')
  const daysMax = isByHour ? hoursDaysMax : rangeDaysMax
  const name = isByHour ? `${kind.name} by hour` : kind.name
  const { range, zone } = localRange(query, kind.daysDefault, daysMax, name, nowMs)
  const { countsVisitors = false } = kind
  const { filters, metrics: metricConditions } = readAllFilters(query, namesInTree.facts, kind.hasBuckets)
  const factsQuery = { accountId, range, zone, dimensions, filters, countsVisitors }
  const facts = planFacts(factsQuery)
  const given = comparedRange(query, zone, daysMax)
  const earlier = () =>
    query.range !== undefined && query.compare === 'previous_period'
      ? previousUnit(query.range, range, zone, nowMs)
      : query.compare && previousRange(query.compare, range, zone, nowMs)
  const other = given ? otherRange(given, range, zone) : earlier()
  const previous = other && { ...other, facts: planFacts({ ...factsQuery, range: other.range }) }
  return {
    ...{ accountId, currency, range, tz: zone, facts, previous, metricConditions, nowMs },
    retained: retainedFromOf([facts, ...(previous ? [previous.facts] : [])], retained.clicksMs),
  }
}

/** Sums tables still count removed clicks, so only the parts of a query that are read from rows matter. */
function retainedFromOf(queries: readonly FactsPlan[], retainedMs: number): RetainedFrom {
  const starts = queries
    .flatMap(({ parts }) => parts)
    .filter(({ table, range }) => table === 'rows' && range.fromMs < range.untilMs)
    .map(({ range }) => range.fromMs)
  return starts.length === 0 ? {} : retainedFrom(Math.min(...starts), retainedMs)
}

/** @returns the other range of a comparison as responses have it */
export function comparedRangeFields({ range }: ComparedRange, nowMs: number) {
  return { ...rangeTexts(range), complete: range.untilMs <= nowMs }
}
