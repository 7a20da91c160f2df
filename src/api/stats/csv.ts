import { metricNames } from '../../../schema/metrics.ts'
import type { StatsDaily } from '../../../schema/stats.ts'
import { type Cell, toCsv } from '../../rows/csv.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'

/** Formats a series as CSV; with `compare`, `previous_<metric>` follows the metrics. */
export function dailyCsv({ data, previous }: StatsDaily, csvEscape: CsvEscape): string {
  const previousNames = previous ? metricNames.map((metric) => `previous_${metric}`) : []
  const columns = ['id', 'date', 'complete', ...metricNames, ...previousNames]
  const rows = data.map(
    ({ previous: earlier, ...row }): Record<string, Cell> => ({
      ...row,
      ...Object.fromEntries(
        previousNames.map((name, index) => [name, earlier?.[metricNames[index] ?? 'clicks'] ?? null]),
      ),
    }),
  )
  return toCsv(columns, rows, csvEscape)
}
