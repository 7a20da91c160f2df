import type { ReportResponse } from '../../../schema/report.ts'
import type { CsvResponse } from '../../http/responseCache.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { metricsCsv } from '../../rows/metricsCsv.ts'
import type { ReportPlan } from './plan.ts'

/**
 * Formats a report as CSV: `<dimension>_id` and `<dimension>_name` of each dimension, the metrics, and with a comparison
 * `previous_<metric>`. Headers say how many buckets there are, whether more follow, and how to read them.
 * @param totalsOf the number of rows up to the last one of the file, if its last line has the totals; this line says of how many rows, if more
 *   follow
 * @param pathOfNext what precedes `next` in the URL of the next rows; without it, no header names them
 */
export function reportCsv(
  { data, totals, previous, bucketCount, truncated, next }: ReportResponse,
  { dimensions, metrics }: ReportPlan,
  { csvEscape, totalsOf, pathOfNext }: { csvEscape: CsvEscape; totalsOf?: number | undefined; pathOfNext?: string },
): CsvResponse {
  const labels = dimensions.flatMap((dimension) => [`${dimension}_id`, `${dimension}_name`])
  const [id = '', name = ''] = labels
  const rowCount = totalsOf !== undefined && totalsOf < bucketCount ? `of ${bucketCount} rows` : null
  const total = { [id]: '(total)', [name]: rowCount, ...totals, previous: previous?.totals }
  function* lines() {
    for (const { dimensions: values, ...row } of data) {
      const cells = Object.entries(values).flatMap(([dimension, { id, name }]) => [
        [`${dimension}_id`, id],
        [`${dimension}_name`, name],
      ])
      yield { ...row, ...Object.fromEntries(cells) }
    }
    if (totalsOf !== undefined) yield total
  }
  return {
    texts: metricsCsv(labels, metrics, lines(), previous !== undefined, csvEscape),
    headers: {
      'x-bucket-count': `${bucketCount}`,
      'x-truncated': `${truncated}`,
      ...(next && pathOfNext && { link: `<${pathOfNext}${next}>; rel="next"` }),
    },
  }
}
