import { addDays, dateIn, daysBetween, isDate, isZone } from './dates.ts'
import { type Dimension, dimensionNames, type FilterName, filterNames } from './dimensions.ts'
import { type Metric, metricNames, tableMetrics } from './metrics.ts'

export const ranges = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
} as const
type RangeName = keyof typeof ranges

/** Two dates, both included. */
export interface Dates {
  from: string
  to: string
}

export const comparisons = { previous_period: 'Previous period', previous_year: 'Previous year', none: 'None' } as const
type ComparisonName = keyof typeof comparisons

export const intervals = { hour: 'Hour', day: 'Day', week: 'Week' } as const
type Interval = keyof typeof intervals
/** The API returns at most this many local days by hour. */
export const hourDaysMax = 31

export const units = { visitor: 'Visitors', click: 'Clicks' } as const
export const windows = { '1h': '1 hour', '1d': '1 day', '7d': '7 days', '30d': '30 days' } as const

/** Everything that the page shows, except the key: the query of the address. */
export interface View {
  range: RangeName | Dates
  tz: string
  compare: ComparisonName
  /** Values of filter parameters, as the API reads them. */
  filters: Readonly<Partial<Record<FilterName, string>>>
  /** Unit of the series; undefined: hours for up to two days, else days. */
  interval: Interval | undefined
  metrics: readonly [Metric, Metric]
  groupBy: readonly Dimension[]
  /** `id` or a metric, descending with a leading `-`. */
  sort: string
  steps: readonly string[]
  by: keyof typeof units
  window: keyof typeof windows
}

export interface PanelProps {
  view: View
  onChange: (change: Partial<View>) => void
}

export const defaultView: View = {
  range: '30d',
  tz: 'UTC',
  compare: 'previous_period',
  filters: {},
  interval: undefined,
  metrics: ['clicks', 'revenue'],
  groupBy: ['campaign'],
  sort: '-clicks',
  steps: ['click', 'conversion'],
  by: 'visitor',
  window: '7d',
}

const groupsMax = 3
const sortKeys = ['id', ...tableMetrics].flatMap((key) => [key, `-${key}`])

/** Reads a view from the query of an address; a part that is missing or unknown has its default. */
export function parseView(search: string): View {
  const query = new URLSearchParams(search)
  const pick = <Name extends string>(name: string, labels: Readonly<Record<Name, string>>) =>
    (Object.keys(labels) as Name[]).find((value) => value === query.get(name))
  const list = (name: string) => query.get(name)?.split(',') ?? []
  const [first, second] = list('metrics').flatMap((name) => metricNames.filter((metric) => metric === name))
  const groups = list('group_by').flatMap((name) => dimensionNames.filter((dimension) => dimension === name))
  const steps = list('steps').filter((step) => step !== '')
  const filters = filterNames.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []))
  const [from, to, tz] = [query.get('from'), query.get('to'), query.get('tz')]
  return {
    range: isDate(from) && isDate(to) ? { from, to } : (pick('range', ranges) ?? defaultView.range),
    tz: tz && isZone(tz) ? tz : defaultView.tz,
    compare: pick('compare', comparisons) ?? defaultView.compare,
    filters: Object.fromEntries(filters),
    interval: pick('interval', intervals),
    metrics: first && second ? [first, second] : defaultView.metrics,
    groupBy: groups.length > 0 ? [...new Set(groups)].slice(0, groupsMax) : defaultView.groupBy,
    sort: sortKeys.find((key) => key === query.get('sort')) ?? defaultView.sort,
    steps: steps.length > 1 ? steps : defaultView.steps,
    by: pick('by', units) ?? defaultView.by,
    window: pick('window', windows) ?? defaultView.window,
  }
}

/** The query of the address of a view, without what has its default; empty or with a leading `?`. */
export function formatView(view: View): string {
  const defaults = partsOf(defaultView)
  const query = new URLSearchParams(Object.entries(partsOf(view)).filter(([name, text]) => text !== defaults[name]))
  return query.size === 0 ? '' : `?${query}`
}

function partsOf({ range, filters, ...view }: View): Readonly<Record<string, string>> {
  return {
    ...(typeof range === 'string' ? { range } : range),
    tz: view.tz,
    compare: view.compare,
    interval: view.interval ?? '',
    metrics: view.metrics.join(),
    group_by: view.groupBy.join(),
    sort: view.sort,
    steps: view.steps.join(),
    by: view.by,
    window: view.window,
    ...filters,
  }
}

export function viewDates({ range, tz }: View, nowMs: number): Dates {
  if (typeof range !== 'string') return range
  const today = dateIn(tz, nowMs)
  if (range === 'yesterday') return { from: addDays(today, -1), to: addDays(today, -1) }
  return { from: addDays(today, 1 - (daysParameter(range) ?? 1)), to: today }
}

/** The unit of the series of a view; never hours for more days than the API returns. */
export function intervalOf(view: View, nowMs: number): Interval {
  const { from, to } = viewDates(view, nowMs)
  const days = daysBetween(from, to)
  if (view.interval === undefined) return days <= 2 ? 'hour' : 'day'
  return view.interval === 'hour' && days > hourDaysMax ? 'day' : view.interval
}

/** Parameters of range, zone and filters, which stats, reports and funnels have in common. */
export function selectionOf(view: View, nowMs: number) {
  const { range, tz, filters } = view
  const days = typeof range === 'string' ? daysParameter(range) : undefined
  return { ...(days === undefined ? viewDates(view, nowMs) : { days }), tz, ...filters }
}

export function comparisonOf({ compare }: View): { compare?: Exclude<ComparisonName, 'none'> } {
  return compare === 'none' ? {} : { compare }
}

/** The parameter `days` of a range; undefined if the range does not end today. */
function daysParameter(range: RangeName): number | undefined {
  if (range === 'yesterday') return undefined
  return range === 'today' ? 1 : Number.parseInt(range, 10)
}
