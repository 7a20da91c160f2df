import type { QueryOf, ResponseOf } from '../packages/client/types.ts'
import { addDays, endOfMonth } from './dates.ts'
import { type Dimension, dimensionNames, filterOf, timeDimensions } from './dimensions.ts'
import { formatFilter, isListed, withCondition } from './filterText.ts'
import { columnsDefault, type SelectedMetric, statusColumns } from './metrics.ts'
import type { Dates } from './ranges.ts'
import { defaultView, selectionOf, type View } from './view.ts'

export type Report = ResponseOf<'/reports'>
export type ReportRow = Report['data'][number]

/** The dimensions that a row leads to, in this order. */
const path = ['campaign', 'country', 'device', 'offer', 'landing', 'traffic_source', 'os', 'browser', 'day'] as const

/** A click has none of these dimensions: their values have conversions, but no clicks to order them by. */
const conversionDimensions = ['status', 'source', 'event_name', 'coupon_code'] as const satisfies Dimension[]

/** The dimensions by which rows are neither grouped nor filtered, in the order in which a row leads to them. */
export function nextDimensions({ groupBy, filters, next }: Pick<View, 'groupBy' | 'filters' | 'next'>): Dimension[] {
  const isFree = (name: Dimension) => {
    const filter = filterOf(name)
    return !groupBy.includes(name) && !filters.some((condition) => isListed(condition) && condition[1] === filter)
  }
  return [...new Set([...(next ? [next] : []), ...path, ...dimensionNames])].filter(isFree)
}

/** Whether rows are grouped by a dimension of conversions: they have no clicks. */
const hasNoClicks = (groups: readonly Dimension[]) =>
  groups.some((name) => (conversionDimensions as readonly Dimension[]).includes(name))

/** The order of a table that is grouped by other dimensions: by time, and without clicks by conversions. */
export function sortOf(groups: readonly Dimension[], sort: string): string {
  if (groups[0] && timeDimensions.includes(groups[0])) return 'id'
  const isDefault = sort === defaultView.sort || sort === 'id'
  return isDefault ? (hasNoClicks(groups) ? '-conversions' : defaultView.sort) : sort
}

/** The columns of a table: unless others are chosen, conversions and their money by status where rows have no clicks. @param hidden from the key */
export function columnsOf({ columns, groupBy }: View, hidden: readonly string[]): readonly SelectedMetric[] {
  const visible = (names: readonly SelectedMetric[]) => names.filter((name) => !hidden.includes(name))
  const isDefault = columns.join() === visible(columnsDefault).join()
  return isDefault && hasNoClicks(groupBy) ? visible(statusColumns) : columns
}

/** A table of a view: by what its rows are grouped, and the dates of its response. */
export type GroupedTable = { view: View; groups: readonly Dimension[]; dates: Dates }

/**
 * What selects a row: filters, dates, and filters of conversions only. `isExact`: they select nothing else.
 * @param row undefined: the totals
 */
function selectionOfRow(row: ReportRow | undefined, { view, groups, dates }: GroupedTable) {
  const ofConversions: Partial<Record<(typeof conversionDimensions)[number], string>> = {}
  const selected = { filters: view.filters, range: view.range, dates, ofConversions, isExact: true }
  for (const dimension of row ? groups : []) {
    const { id = '' } = row?.dimensions[dimension] ?? {}
    const filter = filterOf(dimension)
    const unit = datesOfUnit(dimension, id)
    const conversionFilter = conversionDimensions.find((name) => name === dimension)
    const text = formatFilter({ values: [id], isExcluded: false })
    if (filter) selected.filters = withCondition(selected.filters, ['is', filter, [id]])
    else if (unit) selected.range = selected.dates = common(selected.dates, unit)
    else if (conversionFilter) selected.ofConversions[conversionFilter] = text
    else selected.isExact = false
  }
  return selected
}

/** The change that selects a row and groups by the next dimension; undefined if the row has nothing to select by. */
export function changeFor(row: ReportRow, table: GroupedTable) {
  const { view, groups } = table
  const { filters, range } = selectionOfRow(row, table)
  if (filters === view.filters && range === view.range) return undefined
  const groupBy = nextDimensions({ groupBy: groups, filters, next: view.next }).slice(0, 1)
  return { filters, range, groupBy, sort: sortOf(groupBy, view.sort) }
}

type ListedPath = '/clicks' | '/conversions' | '/costs'

/** Rows of a list, newest first. */
export type RowList = { [Path in ListedPath]: { path: Path; query: QueryOf<Path> } }[ListedPath]

const statuses: Partial<Record<SelectedMetric, string>> = {
  conversions: 'approved',
  pendingConversions: 'pending',
  holdConversions: 'hold',
  declinedConversions: 'declined',
  refundedConversions: 'refunded,chargeback',
}

/** The rows that a metric of a row counts; undefined if no list has them. @param row undefined: the totals */
export function rowsOf(metric: SelectedMetric, row: ReportRow | undefined, table: GroupedTable): RowList | undefined {
  const { view } = table
  const { filters, range, ofConversions, isExact } = selectionOfRow(row, table)
  if (!isExact) return undefined
  const selection = selectionOf({ ...view, filters, range })
  if (metric === 'clicks' || metric === 'cost') {
    if (Object.keys(ofConversions).length > 0) return undefined
    // The list of clicks has the other part of a cost.
    if (metric === 'cost') return { path: '/costs', query: selection }
    return { path: '/clicks', query: { ...selection, is_bot: false, is_test: false } }
  }
  const status = statuses[metric]
  // A status that the metric does not count has no rows, and its number is zero. Lists select conversions by their own time.
  if (!status || view.countAt === 'click') return undefined
  return { path: '/conversions', query: { ...selection, status, ...ofConversions } }
}

function datesOfUnit(dimension: Dimension, id: string): Dates | undefined {
  if (dimension === 'day') return { from: id, to: id }
  if (dimension === 'week') return { from: id, to: addDays(id, 6) }
  return dimension === 'month' ? { from: `${id}-01`, to: endOfMonth(`${id}-01`) } : undefined
}

/** A week or a month may begin before the range of the table, and end after it. */
function common(one: Dates, other: Dates): Dates {
  const [, from = one.from] = [one.from, other.from].sort()
  const [to = one.to] = [one.to, other.to].sort()
  return { from, to }
}
