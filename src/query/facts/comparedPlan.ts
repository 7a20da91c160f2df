import type { Comparison } from '../../../schema/comparison.ts'
import type { Dimension } from '../../../schema/dimensions.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'
import { type PreviousRange, previousRange } from '../comparison.ts'
import { type FilterQuery, readFilters } from '../filters.ts'
import { type RetainedFrom, retainedFrom } from '../retained.ts'
import { hoursDaysMax, type LocalRangeQuery, localRange, type Range, rangeDaysMax } from '../timeRange.ts'
import { type FactsPlan, planFacts } from './plan.ts'

export interface ComparedPlan {
  accountId: string
  currency: string
  range: Range
  /** IANA name of the time zone; UTC if the request has none. */
  tz: string
  facts: FactsPlan
  /** With `compare`: the earlier range. */
  previous: (PreviousRange & { facts: FactsPlan }) | undefined
  retained: RetainedFrom
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
 * @param kind what error messages call the request
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_tz`, `invalid_compare`, or `invalid_<filter>`
 */
export function planCompared(
  query: LocalRangeQuery & FilterQuery & { compare?: Comparison },
  dimensions: readonly Dimension[],
  kind: { name: string; daysDefault: number },
  { accountId, currency, retained }: FactsCaller,
  nowMs: number,
): ComparedPlan {
  const isByHour = dimensions.includes('hour')
  const daysMax = isByHour ? hoursDaysMax : rangeDaysMax
  const name = isByHour ? `${kind.name} by hour` : kind.name
  const { range, zone } = localRange(query, kind.daysDefault, daysMax, name, nowMs)
  const factsQuery = { accountId, range, zone, dimensions, filters: readFilters(query) }
  const facts = planFacts(factsQuery)
  const shifted = query.compare && previousRange(query.compare, range, zone, nowMs)
  const previous = shifted && { ...shifted, facts: planFacts({ ...factsQuery, range: shifted.range }) }
  return {
    ...{ accountId, currency, range, tz: zone, facts, previous, nowMs },
    retained: retainedFromOf([facts, ...(previous ? [previous.facts] : [])], retained.clicksMs),
  }
}

/** Sums tables still count removed clicks, so only the parts of a query that are read from rows matter. */
function retainedFromOf(queries: readonly FactsPlan[], retainedMs: number): RetainedFrom {
  const starts = queries
    .flatMap(({ parts }) => parts)
    .filter(({ source, range }) => source === 'rows' && range.fromMs < range.untilMs)
    .map(({ range }) => range.fromMs)
  return starts.length === 0 ? {} : retainedFrom(Math.min(...starts), retainedMs)
}
