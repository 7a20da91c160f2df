import { datesIn, daysBetween, endsWithinDay } from './dates.ts'
import { formatMoment, formatUnit } from './format.ts'
import type { Dates } from './ranges.ts'

type Compared = Dates & { previous?: Dates; tz: string; asOf: string }

/**
 * Says what the two ranges of a comparison do not have in common, and that the earlier one begins before the first row of the account.
 * @param firstDate of the first row; empty: not known, or not before the ranges
 */
export function comparedText({ previous, tz, asOf, ...range }: Compared, firstDate: string): string {
  if (!previous) return ''
  const { from, to } = datesIn(tz, previous)
  const isCut = endsWithinDay(tz, previous)
  const now = datesIn(tz, range)
  const [days, others] = [daysBetween(now.from, now.to), daysBetween(from, to)]
  const isOver = previous.to <= asOf
  return [
    isCut && to >= firstDate && `Compared up to the same time of day, ${formatMoment(previous.to, tz)}.`,
    !isCut && days !== others && `${days} days are compared with ${others} days.`,
    isOver && !isCut && range.to > asOf && 'The range is not over, and is compared with whole days.',
    from < firstDate && noDataBefore(firstDate),
  ]
    .filter(Boolean)
    .join(' ')
}

export const noDataBefore = (date: string): string => `No data before ${formatUnit(date, false, '')}.`
