import type { ReportResponse } from '../../../schema/report.ts'
import type { CsvResponse } from '../../http/responseCache.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { type Cell, toCsv } from '../../rows/csvWriter.ts'
import { previousCells } from '../../rows/previousCells.ts'
import type { ReportPlan } from './plan.ts'

type Row = Record<string, Cell>

/**
 * Formats a report as CSV: `id` and `name`, or `<dimension>_id` and `<dimension>_name` of several dimensions, the metrics,
 * and with `compare` `previous_<metric>`. Headers say how many buckets there are, and whether some are missing.
 * @param hasTotals whether the last line has the totals
 */
export function reportCsv(
  { data, totals, previous, bucketCount, truncated }: ReportResponse,
  { dimensions, metrics }: ReportPlan,
  { csvEscape, hasTotals }: { csvEscape: CsvEscape; hasTotals: boolean },
): CsvResponse {
  const isSingle = dimensions.length === 1
  const labels = isSingle ? ['id', 'name'] : dimensions.flatMap((dimension) => [`${dimension}_id`, `${dimension}_name`])
  const compared = previous ? metrics : []
  const columns = [...labels, ...metrics, ...Object.keys(previousCells(compared))]
  const rows = data.map(({ previous: earlier, dimensions: values = {}, ...row }): Row => {
    const cells = Object.entries(values).flatMap(([dimension, { id, name }]) => [
      [`${dimension}_id`, id],
      [`${dimension}_name`, name],
    ])
    return { ...(row as Row), ...Object.fromEntries(cells), ...previousCells(compared, earlier) }
  })
  const blank = Object.fromEntries(labels.map((name) => [name, null]))
  const totalsRow = {
    ...blank,
    [labels[0] ?? '']: '(total)',
    ...(totals as Row),
    ...previousCells(compared, previous?.totals),
  }
  return {
    text: toCsv(columns, hasTotals ? [...rows, totalsRow] : rows, csvEscape),
    headers: { 'x-bucket-count': `${bucketCount}`, 'x-truncated': `${truncated}` },
  }
}
