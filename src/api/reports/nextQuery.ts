import type { TSchema } from '@sinclair/typebox'
import { ReportQuery, reportOffsetMax } from '../../../schema/report.ts'
import type { ComparedPlan } from '../../query/facts/plan.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'

type Page = Pick<ComparedPlan, 'range' | 'compared' | 'nowMs'> & { query: ReportQuery; offset: number }

/**
 * The query of the page after a page of a report, percent-encoded, without `?`. It names the ranges of the page, since `days`, `range` and
 * a comparison up to the present select other ranges at a later time.
 * @param rows rows of the page
 * @returns null beyond the largest `offset`
 */
export function nextQuery({ query, range, compared, nowMs, offset: skipped }: Page, rows: number): string | null {
  const offset = skipped + rows
  if (offset > reportOffsetMax) return null
  const { days: _days, range: name, ...kept } = query
  const parameters: Record<string, unknown> = { ...kept, ...rangeTexts(range), offset }
  if (compared) {
    const { whole, range: cut } = compared
    // `from` and `to` do not say that a range is a month, which another month precedes.
    const isUnit = name !== undefined && query.compare === 'previous_period'
    if (isUnit) {
      const { from, to } = rangeTexts(whole)
      Object.assign(parameters, { compare: undefined, compare_from: from, compare_to: to })
    }
    const followsPresent = query.compare !== undefined && !isUnit && nowMs < range.untilMs
    if (followsPresent || cut.untilMs < whole.untilMs) parameters.previous_until = toInstantText(cut.untilMs)
  }
  const schemas: Readonly<Record<string, TSchema>> = ReportQuery.properties
  return Object.entries(parameters)
    .filter(([parameter, value]) => value !== undefined && value !== schemas[parameter]?.default)
    .map(([parameter, value]) => `${parameter}=${encode(`${value}`)}`)
    .join('&')
}

/** Percent-encodes a value. Lists and times stay legible and short. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A)/g, decodeURIComponent)
}
