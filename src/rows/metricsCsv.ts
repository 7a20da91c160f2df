import type { ReportMetric } from '../../schema/metrics.ts'
import type { CsvEscape } from './csvEscape.ts'
import { type Cell, csvHeader, csvLines } from './csvSerializer.ts'

type Cells = Readonly<Record<string, Cell>>

/**
 * Formats rows of metrics as CSV, line by line. With `compare`, `previous_<metric>` follows the metrics.
 * @param labels the columns before the metrics
 */
export function* metricsCsv(
  labels: readonly string[],
  metrics: readonly ReportMetric[],
  rows: Iterable<{ previous?: object | undefined }>,
  isCompared: boolean,
  csvEscape: CsvEscape,
): Generator<string> {
  const compared = isCompared ? metrics : []
  const names = [...labels, ...metrics, ...compared.map((metric) => `previous_${metric}`)]
  yield csvHeader(names, csvEscape)
  for (const { previous, ...row } of rows) {
    const earlier = compared.map((metric) => [`previous_${metric}`, (previous as Cells | undefined)?.[metric] ?? null])
    yield csvLines(names, [{ ...row, ...Object.fromEntries(earlier) } as Cells], csvEscape)
  }
}
