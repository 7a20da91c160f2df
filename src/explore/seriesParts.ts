import { useRef } from 'preact/hooks'
import type { QueryOf } from '../packages/client/types.ts'
import { dimensions } from './dimensions.ts'
import type { Condition } from './filterText.ts'
import { isSum, type Metric } from './metrics.ts'
import { type Loaded, useGet } from './request.ts'
import type { Daily } from './seriesValues.ts'
import { countedSelectionOf, intervalOf, type View } from './view.ts'

/** A metric over time; the units of time of all lines of a chart are the same. */
export type SeriesLine = { label: string; metric: Metric; body: Daily }

/** The metric by which values are the largest: the first one, but the largest ratios belong to the smallest values. */
export const orderOf = ([metric = 'clicks']: readonly Metric[]): Metric => (isSum(metric) ? metric : 'clicks')

/** Values that have lines of their own. */
const linesMax = 5

/** The first metric of a view over time for the five largest values of a dimension, and for all other values together. */
export function useParts(view: View): Loaded<SeriesLine[]> {
  const { seriesBy: by } = view
  const [metric = 'clicks'] = view.metrics
  const filter = by ? dimensions[by].filter : 'country'
  const selectionWith = (...added: Condition[]) => countedSelectionOf({ ...view, filters: [...view.filters, ...added] })
  const interval = intervalOf(view)
  const order = orderOf(view.metrics)
  const sort = `-${order}` as NonNullable<QueryOf<'/reports'>['sort']>
  const largest = by && { group_by: [by], ...selectionWith(), metrics: [order], sort, limit: linesMax }
  const report = useGet('/reports', largest, ['read:stats'])
  const rows = (report.phase === 'ready' && report.data.data) || []
  const ids = rows.map(({ id }) => id)
  const hasOthers = report.phase === 'ready' && report.data.bucketCount > linesMax
  const lines = Array.from({ length: linesMax + 1 }, (_, at) => {
    const { [at]: id } = ids
    const line: Condition = id === undefined ? ['is_not', filter, ids] : ['is', filter, [id]]
    const isWanted = at < linesMax ? id !== undefined : hasOthers
    return useGet('/stats/daily', isWanted ? { ...selectionWith(line), interval } : undefined, ['read:reports'])
  })
  // Until all lines of this view are read, the page shows the lines of the earlier view with their names.
  const shown = useRef<SeriesLine[]>(undefined)
  // One request has the numbers of the largest values.
  const query = { group_by: [by, interval], ...selectionWith(['is', filter, ids]), metrics: [metric], sort: 'id' }
  const frame = { request: ids.length > 0 ? { path: '/reports' as const, query } : undefined, missing: report.missing }
  const wanted = lines.filter(({ request }) => request)
  const unfinished = [report, ...wanted].find(({ phase }) => phase !== 'ready')
  if (unfinished?.phase === 'error') return { ...frame, phase: 'error', error: unfinished.error }
  if (unfinished) return { ...unfinished, ...frame, data: shown.current } as Loaded<SeriesLine[]>
  shown.current = wanted.map(({ data }, at) => {
    const label = rows[at]?.name ?? rows[at]?.id ?? 'All others'
    return { label, metric, body: data as Daily }
  })
  return { ...frame, phase: 'ready', data: shown.current }
}
