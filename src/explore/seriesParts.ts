import { useRef } from 'preact/hooks'
import type { QueryOf, ResponseOf } from '../packages/client/client.ts'
import { dimensions } from './dimensions.ts'
import { formatFilter, parseFilter } from './filterText.ts'
import { isSum, type Metric } from './metrics.ts'
import { type Loaded, useGet } from './request.ts'
import { intervalOf, selectionOf, type View } from './view.ts'

export type Daily = ResponseOf<'/stats/daily'>

/** A metric over time; the units of time of all lines of a chart are the same. */
export interface SeriesLine {
  label: string
  metric: Metric
  axis: 0 | 1
  body: Daily
}

/** Values that have lines of their own. */
const linesMax = 5
/** As many as the API reads in one filter. */
const valuesMax = 100

/** The first metric of a view over time for the five largest values of a dimension, and for all other values together. */
export function useParts(view: View, nowMs: number): Loaded<SeriesLine[]> {
  const { seriesBy: by, filters } = view
  const [metric] = view.metrics
  const filter = by && dimensions[by].filter
  const selection = selectionOf(view, nowMs)
  const interval = intervalOf(view, nowMs)
  const scopes = ['read:reports', 'read:stats'] as const
  // The largest ratios belong to the smallest values.
  const order = isSum(metric) ? metric : 'clicks'
  const sort = `-${order}` as NonNullable<QueryOf<'/reports'>['sort']>
  const report = useGet(
    '/reports',
    by && { group_by: [by], ...selection, metrics: [order], sort, limit: valuesMax },
    scopes,
  )
  const rows = report.phase === 'ready' ? report.data.data : []
  const ids = rows.map(({ id }) => id)
  const largest = ids.slice(0, linesMax)
  const texts = largest.map((id) => formatFilter({ values: [id], isExcluded: false }))
  if (filter && ids.length > linesMax) texts.push(othersOf(filters[filter], largest, ids.slice(linesMax)))
  const all = Array.from({ length: linesMax + 1 }, (_, at) =>
    useGet('/stats/daily', filter && texts[at] ? { ...selection, interval, [filter]: texts[at] } : undefined, scopes),
  )
  // Until all lines of this view are read, the page shows the lines of the earlier view with their names.
  const shown = useRef<SeriesLine[]>(undefined)
  const query = { group_by: [by, interval], ...selection, metrics: [metric], sort: 'id' }
  const request = filter && {
    path: '/reports' as const,
    query: { ...query, [filter]: formatFilter({ values: largest, isExcluded: false }) },
  }
  const unfinished = [report, ...all.slice(0, texts.length)].find(({ phase }) => phase !== 'ready')
  const frame = { request, missing: report.missing }
  if (unfinished?.phase === 'error') return { ...frame, phase: 'error', error: unfinished.error }
  if (unfinished) return { ...unfinished, ...frame, data: shown.current } as Loaded<SeriesLine[]>
  shown.current = all.flatMap(({ data }, at) => {
    const row = rows[at]
    const label = at < linesMax ? (row?.name ?? row?.id ?? '') : 'All others'
    return data && at < texts.length ? [{ label, metric, axis: 0 as const, body: data }] : []
  })
  return { ...frame, phase: 'ready', data: shown.current }
}

/** A filter that selects all values but the largest ones, among the values that a filter of the view selects. */
function othersOf(current: string | undefined, largest: readonly string[], rest: readonly string[]): string {
  const { values, isExcluded } = current === undefined ? { values: [], isExcluded: true } : parseFilter(current)
  return formatFilter({ values: isExcluded ? [...values, ...largest] : rest, isExcluded })
}
