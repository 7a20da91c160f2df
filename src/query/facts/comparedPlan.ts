import type { Comparison } from '../../../schema/comparison.ts'
import { type PreviousRange, previousRange } from '../comparison.ts'
import { type RetainedFrom, retainedFrom } from '../retained.ts'
import { type FactsPlan, type FactsQuery, planFacts } from './plan.ts'

/** Query plan of sums, and of the same sums in the earlier range of a comparison. */
export interface ComparedPlan {
  facts: FactsPlan
  /** With `compare`: the earlier range. */
  previous: (PreviousRange & { facts: FactsPlan }) | undefined
  retained: RetainedFrom
}

/**
 * Selects the tables of a query, and of its comparison; no I/O.
 * @param retainedMs from when clicks are retained, epoch milliseconds; 0: all
 * @throws Problem `invalid_compare`
 */
export function planCompared(
  query: FactsQuery,
  compare: Comparison | undefined,
  retainedMs: number,
  nowMs: number,
): ComparedPlan {
  const facts = planFacts(query)
  const shifted = compare && previousRange(compare, query.range, query.zone, nowMs)
  const previous = shifted && { ...shifted, facts: planFacts({ ...query, range: shifted.range }) }
  return { facts, previous, retained: retainedFromOf([facts, ...(previous ? [previous.facts] : [])], retainedMs) }
}

/** Sums tables still count removed clicks, so only the parts of a query that are read from rows matter. */
function retainedFromOf(queries: readonly FactsPlan[], retainedMs: number): RetainedFrom {
  const starts = queries
    .flatMap(({ parts }) => parts)
    .filter(({ source, range }) => source === 'rows' && range.fromMs < range.untilMs)
    .map(({ range }) => range.fromMs)
  return starts.length === 0 ? {} : retainedFrom(Math.min(...starts), retainedMs)
}
