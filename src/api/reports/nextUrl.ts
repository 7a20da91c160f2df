import { reportOffsetMax } from '../../../schema/report.ts'
import { rangeTexts } from '../../query/timeRange.ts'
import type { ReportPlan } from './plan.ts'

/**
 * The address of the next rows of a report as CSV, in the range of these rows: at midnight, `days` would select another
 * range. Other parameters stay as they were sent, so that the address hardly grows.
 * @param url of the request
 * @param rows rows of the response
 * @returns undefined beyond the largest `offset`
 */
export function nextUrl(url: string, plan: Pick<ReportPlan, 'range' | 'offset'>, rows: number): string | undefined {
  const offset = plan.offset + rows
  if (offset > reportOffsetMax) return undefined
  const own = new URLSearchParams({ ...rangeTexts(plan.range), format: 'csv', offset: `${offset}` })
  const replaced = ['', 'days', ...own.keys()]
  const isKept = (part: string) => !replaced.includes([...new URLSearchParams(part).keys()].join())
  const { pathname, search } = new URL(url, 'http://localhost')
  return `${pathname}?${[...search.slice(1).split('&').filter(isKept), own].join('&')}`
}
