import { metricNames } from '../../../schema/metrics.ts'
import type { StatsDaily } from '../../../schema/stats.ts'
import type { CsvResponse } from '../../http/responseCache.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { type Cell, toCsv } from '../../rows/csvWriter.ts'
import { previousCells } from '../../rows/previousCells.ts'

/** Formats a series as CSV; with `compare`, `previous_<metric>` follows the metrics. */
export function dailyCsv({ data, previous }: StatsDaily, csvEscape: CsvEscape): CsvResponse {
  const compared = previous ? metricNames : []
  const columns = ['id', 'date', 'complete', ...metricNames, ...Object.keys(previousCells(compared))]
  const rows = data.map(
    ({ previous: earlier, ...row }): Record<string, Cell> => ({
      ...row,
      ...previousCells(compared, earlier),
    }),
  )
  return { text: toCsv(columns, rows, csvEscape), headers: {} }
}
