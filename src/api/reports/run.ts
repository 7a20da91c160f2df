import type { Dimension } from '../../../schema/dimensions.ts'
import type { ReportResponse } from '../../../schema/report.ts'
import type { RouteContext } from '../../http/context.ts'
import { type ExactSums, noSums, readSums, type SumTexts, setMetrics, toMetrics } from '../../query/evaluateMetrics.ts'
import { comparedRangeFields, countAtFields, type FactsPlan } from '../../query/facts/plan.ts'
import { factsSettings } from '../../query/facts/sql.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { selectGroups } from '../../stores/clickhouse/select.ts'
import type { Fragment } from '../../stores/clickhouse/sql.ts'
import type { ReportPlan } from './plan.ts'
import { previousSql, reportSql, totalsOfAll } from './sql.ts'

type ReportRow = ReportResponse['data'][number]

/**
 * Executes a report and adds the names of its buckets.
 * @returns up to `limit` rows; totals and bucketCount include all buckets
 */
export async function runReport(
  { stores, nameCache }: Pick<RouteContext, 'stores' | 'nameCache'>,
  plan: ReportPlan,
  signal: AbortSignal,
): Promise<ReportResponse> {
  const { facts, metrics } = plan
  const { clickhouse } = stores
  // The values of the other range, by whose change the rows are ordered, are read by the same statement.
  const others = plan.order.isChange ? (plan.previous?.facts.parts ?? []) : []
  const allFacts = { ...facts, parts: [...facts.parts, ...others] }
  const { buckets, totals, bucketCount } = await readBuckets(clickhouse, 'reports', reportSql(plan), allFacts, signal)
  const [previous, ...nameFunctions] = await Promise.all([
    plan.previous && readPrevious(clickhouse, plan, plan.previous, buckets, signal),
    ...plan.dimensions.map((dimension, index) => {
      const ids = buckets.map((bucket) => bucket.ids[index] ?? '')
      return readNames(nameCache, plan.accountId, dimension, ids)
    }),
  ])
  const blank = blankReportRow(plan)
  return {
    groupBy: plan.groupBy,
    ...rangeTexts(plan.range),
    ...(plan.hasTz && { tz: plan.tz }),
    currency: plan.currency,
    ...countAtFields(plan),
    data: buckets.map(({ ids, sums }, index) => {
      const row: ReportRow = { ...blank }
      setLabels(row, plan, ids, nameFunctions)
      setMetrics(row, sums, metrics)
      if (previous) row.previous = previous.rows[index] as NonNullable<ReportRow['previous']>
      return row
    }),
    totals: toMetrics(totals, metrics),
    ...(previous && { previous: previous.response }),
    ...plan.retained,
    bucketCount,
    truncated: bucketCount > plan.offset + buckets.length,
    dataThrough: plan.dataThrough,
    asOf: toInstantText(plan.nowMs),
  }
}

/** Has the properties of a row in the order of the response: copies of it are faster than objects that properties are added to. */
function blankReportRow({ metrics, previous }: ReportPlan): ReportRow {
  const names = ['id', 'name', 'dimensions', ...metrics, ...(previous ? ['previous'] : [])]
  return Object.fromEntries(names.map((name) => [name, null])) as unknown as ReportRow
}

function setLabels(
  row: ReportRow,
  { dimensions }: ReportPlan,
  ids: readonly string[],
  names: readonly ((id: string) => string | null)[],
): void {
  const labels = ids.map((id, index) => ({ id, name: names[index]?.(id) ?? null }))
  row.id = bucketId(ids)
  row.name = labels.length === 1 ? (labels[0]?.name ?? null) : labels.map(({ id, name }) => name ?? id).join(' / ')
  row.dimensions = Object.fromEntries(labels.map((label, index) => [dimensions[index] as string, label]))
}

function bucketId(ids: readonly string[]): string {
  const [id = ''] = ids
  return ids.length === 1 ? id : JSON.stringify(ids)
}

async function readPrevious(
  clickhouse: ClickHouse,
  { dimensions, metrics, nowMs }: ReportPlan,
  previous: NonNullable<ReportPlan['previous']>,
  buckets: readonly Bucket[],
  signal: AbortSignal,
) {
  const { facts, counterpartOf } = previous
  const counterparts = buckets.map(({ ids }) => {
    const earlier = ids.map((id, index) => counterpartOf(dimensions[index] as Dimension, id))
    return earlier.every((id) => id !== null) ? earlier : null
  })
  const wanted = counterparts.filter((ids) => ids !== null)
  const query = previousSql(facts, metrics, wanted)
  const earlier = await readBuckets(clickhouse, 'reports.previous', query, facts, signal)
  const sumsById = new Map(earlier.buckets.map(({ ids, sums }) => [bucketId(ids), sums]))
  return {
    response: { ...comparedRangeFields(previous, nowMs), totals: toMetrics(earlier.totals, metrics) },
    rows: counterparts.map((ids) => {
      const id = ids && bucketId(ids)
      return { id, ...toMetrics(sumsById.get(id ?? '') ?? noSums, metrics) }
    }),
  }
}

interface Bucket {
  ids: readonly string[]
  sums: ExactSums
}

/** @returns the buckets that a statement selects, and the totals and the number of all */
async function readBuckets(
  clickhouse: ClickHouse,
  label: string,
  query: Fragment,
  facts: FactsPlan,
  signal: AbortSignal,
): Promise<{ buckets: Bucket[]; totals: ExactSums; bucketCount: number }> {
  type Row = SumTexts & { id1: string; id2?: string; id3?: string }
  const settings = { ...factsSettings(facts), ...totalsOfAll }
  const groups = await selectGroups<Row>(clickhouse, query, { label, signal, settings })
  const buckets = groups.data.map(({ id1, id2, id3, ...sums }) => ({
    ids: [id1, id2, id3].filter((id) => id !== undefined),
    sums: readSums(sums),
  }))
  return { buckets, totals: readSums(groups.totals), bucketCount: groups.rows_before_limit_at_least ?? buckets.length }
}
