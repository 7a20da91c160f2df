import { notSet, type ReportResponse, ReportRow } from '../../../schema/report.ts'
import type { RouteContext } from '../../http/context.ts'
import { type SumTexts, toMetrics } from '../../query/metrics.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { toCsv } from '../../rows/csv.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { selectGroups, smallFinal } from '../../stores/clickhouse/select.ts'
import { countryName } from './countryName.ts'
import type { ReportPlan } from './plan.ts'
import { reportSql } from './sql.ts'

/**
 * Asks for a report and labels its buckets.
 * @returns at most 1,000 rows; totals and bucketCount are over all of them
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runReport(
  { stores, nameCache: names }: RouteContext,
  plan: ReportPlan,
  signal: AbortSignal,
): Promise<ReportResponse> {
  const { rows, totals, rowsBeforeLimit } = await selectGroups<{ id: string } & SumTexts>(
    stores.clickhouse,
    reportSql(plan),
    { label: 'reports', signal, settings: smallFinal },
  )
  const nameOf = await labels(
    names,
    plan,
    rows.map(({ id }) => id),
  )
  return {
    groupBy: plan.groupBy,
    from: toInstantText(plan.range.fromMs),
    to: toInstantText(plan.range.untilMs),
    currency: plan.currency,
    data: rows.map((row) => ({ id: row.id, name: row.id === notSet ? notSet : nameOf(row.id), ...toMetrics(row) })),
    totals: toMetrics(totals),
    bucketCount: rowsBeforeLimit,
    truncated: rowsBeforeLimit > rows.length,
    asOf: toInstantText(plan.nowMs),
  }
}

/** @returns what a bucket is called; null for an id that nothing is known of */
async function labels(
  names: RouteContext['nameCache'],
  plan: ReportPlan,
  ids: string[],
): Promise<(id: string) => string | null> {
  const source = plan.dimension.names
  if (source === 'itself') return (id) => id
  if (source === 'country') return countryName
  const found = await names.find(plan.accountId, source, ids)
  return (id) => found.get(id) ?? null
}

/** Formats the rows of the response as CSV. */
export function reportCsv({ data }: ReportResponse, csvEscape: CsvEscape): string {
  return toCsv(Object.keys(ReportRow.properties) as (keyof ReportResponse['data'][number])[], data, csvEscape)
}
