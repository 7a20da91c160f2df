import { useRef } from 'preact/hooks'
import type { QueryOf } from '../packages/client/client.ts'
import { dimensions } from './dimensions.ts'
import { formatFilter, parseFilter } from './filterText.ts'
import { isSum, type Metric } from './metrics.ts'
import { type Loaded, nextQuery, useGet } from './request.ts'
import type { Daily } from './seriesValues.ts'
import { countedSelectionOf, intervalOf, type View } from './view.ts'

/** A metric over time; the units of time of all lines of a chart are the same. */
export interface SeriesLine {
  label: string
  metric: Metric
  body: Daily
}

/** The metric by which values are the largest: the first one, but the largest ratios belong to the smallest values. */
export const orderOf = ([metric = 'clicks']: readonly Metric[]): Metric => (isSum(metric) ? metric : 'clicks')

/** Values that have lines of their own. */
const linesMax = 5
/** As many as the API reads in one filter. */
const valuesMax = 100
/** 31 days by hour have four pages for five values. */
const pagesMax = 4

/**
 * The first metric of a view over time for the five largest values of a dimension, and for all other values together.
 * @param daily the series of all values, with the units of time
 */
export function useParts(view: View, daily: Loaded<Daily>): Loaded<SeriesLine[]> {
  const { seriesBy: by, filters } = view
  const [metric = 'clicks'] = view.metrics
  const filter = by && dimensions[by].filter
  const selection = countedSelectionOf(view)
  const interval = intervalOf(view)
  const scopes = ['read:reports', 'read:stats'] as const
  const order = orderOf(view.metrics)
  const sort = `-${order}` as NonNullable<QueryOf<'/reports'>['sort']>
  const report = useGet(
    '/reports',
    by && { group_by: [by], ...selection, metrics: [order], sort, limit: valuesMax },
    scopes,
  )
  const values = report.phase === 'ready' ? report.data.data : []
  const largest = values.slice(0, linesMax)
  const ids = largest.map(({ id }) => id)
  const rest = values.slice(linesMax).map(({ id }) => id)
  const series = by && { group_by: [by, interval], ...selection, metrics: [metric], sort: 'id' as const }
  const ofLargest = filter && ids.length > 0 && { [filter]: formatFilter({ values: ids, isExcluded: false }) }
  const query = series && ofLargest && { ...series, ...ofLargest }
  const others = useGet(
    '/stats/daily',
    filter && rest.length > 0 ? { ...selection, interval, [filter]: othersOf(filters[filter], ids, rest) } : undefined,
    scopes,
  )
  let pageQuery: QueryOf<'/reports'> | undefined = query || undefined
  const pages = Array.from({ length: pagesMax }, () => {
    const rows = useGet('/reports', pageQuery, scopes)
    pageQuery = rows.phase === 'ready' ? nextQuery(rows.data) : undefined
    return rows
  })
  // Until all lines of this view are read, the page shows the lines of the earlier view with their names.
  const shown = useRef<SeriesLine[]>(undefined)
  const frame = { request: query ? { path: '/reports' as const, query } : undefined, missing: report.missing }
  const wanted = [others, ...pages].filter(({ request }) => request)
  const unfinished = [report, daily, ...wanted].find(({ phase }) => phase !== 'ready')
  if (unfinished?.phase === 'error') return { ...frame, phase: 'error', error: unfinished.error }
  if (unfinished || !daily.data) return { ...unfinished, ...frame, data: shown.current } as Loaded<SeriesLine[]>
  const rows = pages.flatMap(({ request, data }) => (request && data ? data.data : []))
  const known = new Map(rows.map((row) => [row.id, row[metric]]))
  const { previous: _all, ...units } = daily.data
  const bodies = ids.map((id): Daily => {
    const data = units.data.map(({ previous: _earlier, ...unit }) => {
      const key = JSON.stringify([id, interval === 'month' ? unit.id.slice(0, 7) : unit.id])
      return { ...unit, [metric]: known.get(key) ?? (isSum(metric) ? 0 : null) }
    })
    return { ...units, data }
  })
  if (others.request && others.data) bodies.push(others.data)
  shown.current = bodies.map((body, at) => {
    const label = largest[at]?.name ?? largest[at]?.id ?? 'All others'
    return { label, metric, body }
  })
  return { ...frame, phase: 'ready', data: shown.current }
}

/** A filter that selects all values but the largest ones, among the values that a filter of the view selects. */
function othersOf(current: string | undefined, largest: readonly string[], rest: readonly string[]): string {
  const { values, isExcluded } = current === undefined ? { values: [], isExcluded: true } : parseFilter(current)
  return formatFilter({ values: isExcluded ? [...values, ...largest] : rest, isExcluded })
}
