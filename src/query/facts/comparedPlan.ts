import type { CountAt } from '../../../schema/countAt.ts'
import type { Dimension } from '../../../schema/dimensions.ts'
import { namesInTree } from '../../../schema/filters.ts'
import type { FreshnessOfAccount } from '../../stores/postgres/freshness.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import type { RowTable } from '../attributes.ts'
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
  toInstantText,
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
  dataThrough: DataThrough
  nowMs: number
}

/** Up to when the account has rows, whatever the query selects: times as in responses, null without rows. */
export type DataThrough = Record<RowTable, string | null>

/** Parameter that says when conversions count. */
export type CountQuery = { count_at?: CountAt }

export interface FactsCaller {
  accountId: string
  currency: string
  retained: RetainedRanges
  freshness: FreshnessOfAccount
}

/**
 * Reads range, filters and comparison, and selects the tables; no I/O.
 * @param dimensions what the sums are grouped by
 * @param kind what error messages call the request, whether it counts visitors, and whether metrics of its buckets can be filtered
 * @throws Problem `invalid_range`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, `invalid_compare_from`,
 *   `invalid_compare_to`, `invalid_filters`, or `invalid_<filter>`
 */
export function planCompared(
  query: LocalRangeQuery & FilterQuery & ComparisonQuery & CountQuery,
  dimensions: readonly Dimension[],
  kind: { name: string; daysDefault: number; countsVisitors?: boolean; hasBuckets?: true },
  { accountId, currency, retained, freshness }: FactsCaller,
  nowMs: number,
): ComparedPlan {
  const isByHour = dimensions.includes('hour')
  const daysMax = isByHour ? hoursDaysMax : rangeDaysMax
  const name = isByHour ? `${kind.name} by hour` : kind.name
  const { range, zone } = localRange(query, kind.daysDefault, daysMax, name, nowMs)
  const { countsVisitors = false } = kind
  const countsAtClick = query.count_at === 'click'
  const { filters, metrics: metricConditions } = readAllFilters(query, namesInTree.facts, kind.hasBuckets)
  const factsQuery = { accountId, range, zone, dimensions, filters, countsVisitors, countsAtClick }
  const facts = planFacts(factsQuery)
  const given = comparedRange(query, zone, daysMax)
  const earlier = () =>
    query.range !== undefined && query.compare === 'previous_period'
      ? previousUnit(query.range, range, zone, nowMs)
      : query.compare && previousRange(query.compare, range, zone, nowMs)
  const other = given ? otherRange(given, range, zone) : earlier()
  const previous = other && { ...other, facts: planFacts({ ...factsQuery, range: other.range }) }
  return {
    accountId,
    currency,
    range,
    tz: zone,
    facts,
    previous,
    metricConditions,
    nowMs,
    retained: retainedFromOf([facts, ...(previous ? [previous.facts] : [])], retained.clicksMs),
    dataThrough: dataThroughOf(freshness),
  }
}

function dataThroughOf(freshness: FreshnessOfAccount): DataThrough {
  const textOf = (ms: number | null = null) => (ms === null ? null : toInstantText(ms))
  return {
    clicks: textOf(freshness.clicks?.throughMs),
    conversions: textOf(freshness.conversions?.throughMs),
    costs: textOf(freshness.costs?.throughMs),
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

/** @returns the field of responses that count conversions at their click */
export function countAtFields({ facts }: ComparedPlan): { countAt?: 'click' } {
  return facts.countsAtClick ? { countAt: 'click' } : {}
}

/** @returns the other range of a comparison as responses have it */
export function comparedRangeFields({ range }: ComparedRange, nowMs: number) {
  return { ...rangeTexts(range), complete: range.untilMs <= nowMs }
}
