import { dateIn, datesIn, daysBetween, endsWithinDay } from './dates.ts'
import { formatMoment, formatUnit } from './format.ts'
import type { Dates } from './ranges.ts'

type Compared = Dates & {
  previous?: Dates
  tz: string
  asOf: string
  dataThrough?: Partial<Record<string, string | null>> | undefined
}

/**
 * The last date with rows of a fact, if it is before the last date of a range that is over, or before the present date. Empty: the fact
 * does not end before, or the account has no row of it.
 */
export function endOf(fact: 'conversions' | 'costs', { tz, to, asOf, dataThrough }: Omit<Compared, 'from'>): string {
  const through = dataThrough?.[fact]
  const date = through ? dateIn(tz, Date.parse(through)) : ''
  return date < dateIn(tz, Math.min(Date.parse(to) - 1, Date.parse(asOf))) ? date : ''
}

/**
 * Says up to when there are costs, what the two ranges of a comparison do not have in common, and that the earlier one begins before the first row of the account.
 * @param firstDate of the first row; empty: not known, or not before the ranges
 */
export function comparedText({ previous, tz, asOf, dataThrough, ...range }: Compared, firstDate: string): string {
  const costsEnd = endOf('costs', { tz, asOf, to: range.to, dataThrough })
  const ends =
    costsEnd &&
    `Costs of networks end on ${formatUnit(costsEnd, false, '')}: later profit, ROI and CPA are not complete.`
  if (!previous) return ends
  const { from, to } = datesIn(tz, previous)
  const isCut = endsWithinDay(tz, previous)
  const now = datesIn(tz, range)
  const [days, others] = [daysBetween(now.from, now.to), daysBetween(from, to)]
  return [
    ends,
    isCut && to >= firstDate && `Compared up to the same time of day, ${formatMoment(previous.to, tz)}.`,
    !isCut && days !== others && `${days} days are compared with ${others} days.`,
    previous.to <= asOf && !isCut && range.to > asOf && 'The range is not over, and is compared with whole days.',
    from < firstDate && noDataBefore(firstDate),
  ]
    .filter(Boolean)
    .join(' ')
}

export const noDataBefore = (date: string): string => `No data before ${formatUnit(date, false, '')}.`
