/** Ranges that follow the present, and the days that each has at most. */
export const ranges = {
  today: { label: 'Today', days: 1 },
  yesterday: { label: 'Yesterday', days: 1 },
  '7d': { label: 'Last 7 days', days: 7 },
  '30d': { label: 'Last 30 days', days: 30 },
  '90d': { label: 'Last 90 days', days: 90 },
  this_week: { label: 'This week', days: 7 },
  last_week: { label: 'Last week', days: 7 },
  this_month: { label: 'This month', days: 31 },
  last_month: { label: 'Last month', days: 31 },
  this_quarter: { label: 'This quarter', days: 92 },
  last_quarter: { label: 'Last quarter', days: 92 },
  this_year: { label: 'This year', days: 366 },
  last_year: { label: 'Last year', days: 366 },
} as const
export type RangeName = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as RangeName[]

/** Two dates, both included. */
export type Dates = { from: string; to: string }

export const comparisons = { previous_period: 'Previous period', previous_year: 'Previous year', none: 'None' } as const
export type ComparisonName = keyof typeof comparisons

/** The parameters of a range. */
export function rangeParameters(range: RangeName | Dates) {
  if (typeof range !== 'string') return range
  if (range === '7d' || range === '30d' || range === '90d') return { days: ranges[range].days }
  return { range }
}
