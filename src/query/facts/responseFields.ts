import type { ComparedRange } from '../comparison.ts'
import { type ExactSums, toMetrics } from '../evaluateMetrics.ts'
import { rangeTexts } from '../timeRange.ts'
import { type ComparedFacts, type ComparedPlan, lacksAllRows } from './plan.ts'

/** @returns the field of responses that count conversions at their click */
export function countAtFields({ facts }: ComparedPlan): { countAt?: 'click' } {
  return facts.countsAtClick ? { countAt: 'click' } : {}
}

/** @returns the compared range as responses have it */
export function comparedRangeFields({ range }: ComparedRange, nowMs: number) {
  return { ...rangeTexts(range), complete: range.untilMs <= nowMs }
}

/** @returns the compared range with its totals, which are null if all its rows are removed */
export function comparedTotals(compared: ComparedFacts, { nowMs, metrics }: ComparedPlan, totals: ExactSums) {
  const hasRows = !lacksAllRows(compared.facts)
  return { ...comparedRangeFields(compared, nowMs), totals: hasRows ? toMetrics(totals, metrics) : null }
}
