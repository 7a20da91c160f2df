import type { ReportMetric } from '../../schema/metrics.ts'
import type { CsvEscape } from './csvEscape.ts'
import { csvHeader, textCellOf } from './csvSerializer.ts'

/** Values by column. */
type Values = Readonly<Record<string, unknown>>

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
  const textCell = textCellOf(csvEscape)
  const cellOf = (value: unknown) => (typeof value === 'string' ? textCell(value) : `${value ?? ''}`)
  const names = [...labels, ...metrics]
  const compared = isCompared ? metrics : []
  yield csvHeader([...names, ...compared.map((metric) => `previous_${metric}`)], csvEscape)
  for (const row of rows as Iterable<Values & { previous?: Values }>) {
    const values = [...names.map((name) => row[name]), ...compared.map((metric) => row.previous?.[metric])]
    yield `${values.map(cellOf).join()}\n`
  }
}
