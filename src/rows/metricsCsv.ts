import type { ReportMetric } from '../../schema/metrics.ts'
import type { CsvEscape } from './csvEscape.ts'
import { type Cell, toCsv } from './csvSerializer.ts'

type Cells = Readonly<Record<string, Cell>>

/**
 * Formats rows of metrics as CSV. With `compare`, `previous_<metric>` follows the metrics.
 * @param labels the columns before the metrics
 */
export function metricsCsv(
  labels: readonly string[],
  metrics: readonly ReportMetric[],
  rows: readonly { previous?: object | undefined }[],
  isCompared: boolean,
  csvEscape: CsvEscape,
): string {
  const compared = isCompared ? metrics : []
  const table = rows.map(({ previous, ...row }) => {
    const earlier = compared.map((metric) => [`previous_${metric}`, (previous as Cells | undefined)?.[metric] ?? null])
    return { ...row, ...Object.fromEntries(earlier) } as Cells
  })
  return toCsv([...labels, ...metrics, ...compared.map((metric) => `previous_${metric}`)], table, csvEscape)
}
