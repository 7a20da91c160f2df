import { reportOffsetMax } from '../../../schema/report.ts'
import { type Range, rangeTexts } from '../../query/timeRange.ts'
import type { ReportPlan } from './report.ts'

/**
 * The address of the next rows of a report as CSV, in the ranges of these rows: at midnight, `days` and `range` would select
 * others. Other parameters stay as they were sent, so that the address hardly grows.
 * @param url of the request
 * @param rows rows of the response
 * @returns undefined beyond the largest `offset`
 */
export function nextUrl(
  url: string,
  {
    range,
    offset: skipped,
    compared,
  }: Pick<ReportPlan, 'range' | 'offset'> & { compared?: { range: Range } | undefined },
  rows: number,
): string | undefined {
  const offset = skipped + rows
  if (offset > reportOffsetMax) return undefined
  const { pathname, search, searchParams } = new URL(url, 'http://localhost')
  const own = new URLSearchParams({ ...rangeTexts(range), format: 'csv', offset: `${offset}` })
  // `from` and `to` do not say that a range is a month, which another month precedes.
  const isOfUnit = searchParams.has('range') && searchParams.get('compare') === 'previous_period'
  const isUnit = isOfUnit && compared !== undefined && compared.range.fromMs < compared.range.untilMs
  if (isUnit) {
    const { from, to } = rangeTexts(compared.range)
    own.set('compare_from', from)
    own.set('compare_to', to)
  }
  const replaced = ['', 'days', 'range', ...(isUnit ? ['compare'] : []), ...own.keys()]
  const isKept = (part: string) => !replaced.includes([...new URLSearchParams(part).keys()].join())
  return `${pathname}?${[...search.slice(1).split('&').filter(isKept), own].join('&')}`
}
