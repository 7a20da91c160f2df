import { daysBetween, isDate, isZone } from './dates.ts'
import { dimensionNames, filteredDimensions, funnelDimensions } from './dimensions.ts'
import { type Conditions, filterParameters, isOfMetric, readConditions } from './filterText.ts'
import { columnNames, columnsDefault, metricNames, type SelectedMetric } from './metrics.ts'
import {
  type ComparisonName,
  comparisons,
  type Dates,
  type RangeName,
  rangeNames,
  rangeParameters,
  ranges,
} from './ranges.ts'

export const intervals = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } as const
/** The API returns at most this many local days by hour. */
export const hourDaysMax = 31

/** The moments at which conversions can count. */
export const countTimes = ['conversion', 'click'] as const

export const units = { visitor: 'Visitors', click: 'Clicks' } as const
export const windows = { '1h': '1 hour', '1d': '1 day', '7d': '7 days', '30d': '30 days' } as const

/** Everything that the page shows, except the key: the query of the address. */
export interface View extends CodedView {
  range: RangeName | Dates
  tz: string
  compare: ComparisonName | Dates
  filters: Conditions
}

export type PanelProps = { view: View; onChange: (change: Partial<View>) => void }

const sortKeys = ['id', ...columnNames.flatMap((name) => [name, `change.${name}`])]

const keysOf = <Name extends string>(labels: Readonly<Record<Name, string>>): Name[] => Object.keys(labels) as Name[]
const readCount = (text: string): number | undefined => (/^\d{1,7}$/.test(text) ? Number(text) : undefined)

/** A part of a view: its parameter in the address, how its text is read (undefined: the text is not a value), and its default. */
const coded = <Value>(name: string, read: (text: string) => Value | undefined, byDefault: NoInfer<Value>) =>
  [name, read, byDefault] as const
/** The same of a part that is undefined by default. */
const optional = <Value>(name: string, read: (text: string) => Value | undefined) =>
  coded<Value | undefined>(name, read, undefined)

const codecs = {
  countAt: coded('count_at', oneOf(countTimes), 'conversion'),
  /** Unit of the series; undefined: hours for up to two days, days for up to four months, else weeks. */
  interval: optional('interval', oneOf(keysOf(intervals))),
  /** One or two metrics of the series. */
  metrics: coded('metrics', listOf(metricNames, 1, 2), ['clicks', 'revenue']),
  /** The dimension whose values are the lines of the series, by the first metric; undefined: none. */
  seriesBy: optional('series_by', oneOf(filteredDimensions)),
  groupBy: coded('group_by', listOf(dimensionNames, 1, 3), ['campaign']),
  /** The dimension that a row leads to if rows are neither grouped nor filtered by it; undefined: the next one of the path. */
  next: optional('next', oneOf(dimensionNames)),
  /** `id`, a metric, or `change.` before a metric; descending with a leading `-`. */
  sort: coded('sort', oneOf(sortKeys.flatMap((key) => [key, `-${key}`])), '-clicks'),
  columns: coded('columns', listOf(columnNames, 1, columnNames.length), columnsDefault),
  /** The column of the order also as a share of its total. */
  share: optional('share', oneOf(['total'])),
  /** Rows with fewer clicks are not shown. */
  minClicks: coded('min_clicks', readCount, 0),
  /** Rows before those that are shown. */
  offset: coded('offset', readCount, 0),
  steps: coded('steps', listOf<string>(undefined, 2, 8), ['click', 'conversion']),
  by: coded('by', oneOf(keysOf(units)), 'visitor'),
  window: coded('window', oneOf(keysOf(windows)), '7d'),
  /** The decimal sign of CSV files; undefined: of the language of the browser. */
  csvDecimal: optional('csv_decimal', oneOf(['point', 'comma'])),
  /** The dimension of the rows of the funnel; undefined: none. */
  funnelBy: optional('funnel_by', oneOf(funnelDimensions)),
}
type CodedView = { [Part in keyof typeof codecs]: (typeof codecs)[Part][2] }
const codedParts = Object.keys(codecs) as (keyof CodedView)[]

export const defaultView = parseView('')

function oneOf<Name extends string>(names: readonly Name[]) {
  return (text: string | null) => names.find((name) => name === text)
}

/** @param names undefined: any text */
function listOf<Item extends string>(names: readonly Item[] | undefined, min: number, max: number) {
  return (text: string): readonly Item[] | undefined => {
    const isItem = (part: string): part is Item => part !== '' && (!names || names.includes(part as Item))
    const parts = text.split(',').filter(isItem)
    return parts.length < min ? undefined : parts.slice(0, max)
  }
}

/** The column by which rows are ordered, by its value or its change; the first one if it is another one. */
export function sortedColumn({ sort, columns }: Pick<View, 'sort' | 'columns'>): SelectedMetric {
  return columns.find((name) => sort.replace(/^-?(change\.)?/, '') === name) ?? columns[0] ?? 'clicks'
}

/** @param hidden metrics that do not exist for the key @returns a view without them */
export function visibleView(view: View, hidden: readonly string[]): View {
  const isVisible = (name: string) => !hidden.includes(name)
  const visible = <Name extends string>(names: readonly Name[]) => {
    const left = names.filter(isVisible)
    return left.length > 0 ? left : (['clicks'] as const)
  }
  const sort = isVisible(view.sort.replace(/^-?(change\.)?/, '')) ? view.sort : defaultView.sort
  return { ...view, metrics: visible(view.metrics), columns: visible(view.columns), sort }
}

/**
 * Reads a view from the query of an address; a part that is missing or unknown has its default.
 * @param ownZone the time zone of an address without one
 */
export function parseView(search: string, ownZone = 'UTC'): View {
  const query = new URLSearchParams(search)
  const dates = (first: string, last: string): Dates | undefined => {
    const [from, to] = [query.get(first), query.get(last)]
    return isDate(from) && isDate(to) && from <= to ? { from, to } : undefined
  }
  const tz = query.get('tz')
  const parts = codedParts.map((part) => {
    const [name, read, byDefault] = codecs[part]
    return [part, read(query.get(name) ?? '') ?? byDefault]
  })
  return {
    ...(Object.fromEntries(parts) as CodedView),
    range: dates('from', 'to') ?? oneOf(rangeNames)(query.get('range')) ?? '30d',
    tz: tz && isZone(tz) ? tz : ownZone,
    compare:
      dates('compare_from', 'compare_to') ?? oneOf(keysOf(comparisons))(query.get('compare')) ?? 'previous_period',
    filters: readConditions(query),
  }
}

/**
 * The query of the address of a view, with a leading `?` and without what has its default. It always has the time zone: the
 * reader of a link may be in another one.
 */
export function formatView(view: View): string {
  const defaults = partsOf(defaultView)
  const parts = Object.entries(partsOf(view)).filter(([name, text]) => text !== defaults[name])
  return `?${new URLSearchParams([...parts, ['tz', view.tz]])}`
}

function partsOf(view: View): Readonly<Record<string, string>> {
  const { range, compare, filters } = view
  return {
    ...(typeof range === 'string' ? { range } : range),
    ...(typeof compare === 'string' ? { compare } : comparisonOf({ compare })),
    ...Object.fromEntries(codedParts.map((part) => [codecs[part][0], `${view[part] ?? ''}`])),
    ...filterParameters(filters),
  }
}

/** The most days that the range of a view can have. */
export const daysOf = ({ range }: View): number =>
  typeof range === 'string' ? ranges[range].days : daysBetween(range.from, range.to)

/** The unit of the series of a view; never hours for more days than the API returns. */
export function intervalOf(view: View): keyof typeof intervals {
  const days = daysOf(view)
  if (view.interval === undefined) return days <= 2 ? 'hour' : days <= 124 ? 'day' : 'week'
  return view.interval === 'hour' && days > hourDaysMax ? 'day' : view.interval
}

/** Parameters of range, zone and filters, which all requests of numbers and rows have in common. */
export const selectionOf = ({ range, tz, filters }: View) => ({
  ...rangeParameters(range),
  tz,
  ...filterParameters(filters.filter((condition) => !isOfMetric(condition))),
})

/** The same of requests of numbers, and when conversions count. */
export function countedSelectionOf(view: View) {
  const { countAt } = view
  return { ...selectionOf(view), ...(countAt === 'click' && { count_at: countAt }) }
}

/** Whether the drill-down leaves out rows by their numbers. Its totals include these rows. */
export const leavesOutRows = ({ filters, minClicks }: View): boolean => minClicks > 0 || filters.some(isOfMetric)

/** Parameters of the comparison: if the range includes the present, the earlier range ends at the same local time. */
export function comparisonOf({ compare }: Pick<View, 'compare'>) {
  if (typeof compare !== 'string') return { compare_from: compare.from, compare_to: compare.to }
  return compare === 'none' ? {} : { compare }
}
