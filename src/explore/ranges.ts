import { addDays, daysBetween } from './dates.ts'

/** Ranges that follow the present. */
export const ranges = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  this_week: 'This week',
  last_week: 'Last week',
  this_month: 'This month',
  last_month: 'Last month',
  this_quarter: 'This quarter',
  last_quarter: 'Last quarter',
  this_year: 'This year',
  last_year: 'Last year',
} as const
export type RangeName = keyof typeof ranges

/** Two dates, both included. */
export type Dates = { from: string; to: string }

export const comparisons = { previous_period: 'Previous period', previous_year: 'Previous year', none: 'None' } as const
export type ComparisonName = keyof typeof comparisons

/** The parameter `days` of a range; undefined if the range is not a number of days that end today. */
export function daysParameter(range: RangeName): number | undefined {
  if (range === 'today') return 1
  return range.endsWith('d') ? Number.parseInt(range, 10) : undefined
}

/** The dates of a range; weeks begin on Monday. The current week, month, quarter or year ends today. */
export function datesOf(range: RangeName, today: string): Dates {
  const days = daysParameter(range)
  if (days !== undefined) return { from: addDays(today, 1 - days), to: today }
  const yesterday = addDays(today, -1)
  if (range === 'yesterday') return { from: yesterday, to: yesterday }
  const [which, unit = ''] = range.split('_')
  const from = startOf(unit, today)
  if (which === 'this') return { from, to: today }
  const to = addDays(from, -1)
  return { from: startOf(unit, to), to }
}

/** The whole range that a range is compared with; undefined: none. */
export function comparedDates({ from, to }: Dates, compare: ComparisonName | Dates): Dates | undefined {
  if (typeof compare !== 'string') return compare
  if (compare === 'none') return undefined
  if (compare === 'previous_year') return { from: yearBefore(from), to: yearBefore(to) }
  return { from: addDays(from, -daysBetween(from, to)), to: addDays(from, -1) }
}

function startOf(unit: string, date: string): string {
  if (unit === 'week') return addDays(date, -((new Date(date).getUTCDay() + 6) % 7))
  const month = Number(date.slice(5, 7))
  const first = unit === 'year' ? 1 : unit === 'quarter' ? month - ((month - 1) % 3) : month
  return `${date.slice(0, 4)}-${`${first}`.padStart(2, '0')}-01`
}

function yearBefore(date: string): string {
  const year = `${Number(date.slice(0, 4)) - 1}`.padStart(4, '0')
  return `${year}${date.slice(4)}`.replace('-02-29', '-02-28')
}
