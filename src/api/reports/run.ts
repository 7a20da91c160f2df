import type { ReportResponse } from '../../../schema/report.ts'
import type { RouteContext } from '../../http/context.ts'
import { factsSettings } from '../../query/facts/sql.ts'
import { addSums, type SumTexts, setMetrics, toMetrics } from '../../query/metricFormulas.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import { selectGroups } from '../../stores/clickhouse/select.ts'
import { type Bucket, type Buckets, orderBuckets, readGroups } from './buckets.ts'
import type { ReportPlan } from './plan.ts'
import { previousSql, reportSql } from './sql.ts'

type BucketRow = SumTexts & { id1: string; id2?: string; id3?: string }
type ReportRow = ReportResponse['data'][number]

/** ClickHouse orders more groups in less time than this process reads them. */
const orderedGroupsMax = 1_000

/**
 * Executes a report and adds the names of its buckets.
 * @param groupsMax groups of sums that are ordered here; ClickHouse orders more
 * @returns up to `limit` rows; totals and bucketCount include all buckets
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runReport(
  { stores, nameCache }: Pick<RouteContext, 'stores' | 'nameCache'>,
  plan: ReportPlan,
  signal: AbortSignal,
  groupsMax = orderedGroupsMax,
): Promise<ReportResponse> {
  const { buckets, totals, bucketCount } = await readBuckets(stores, plan, signal, groupsMax)
  const names = plan.dimensions.map((dimension, index) =>
    readNames(
      nameCache,
      plan.accountId,
      dimension,
      buckets.map(({ ids }) => ids[index] ?? ''),
    ),
  )
  const [previous, ...nameFunctions] = await Promise.all([
    plan.previous && readPrevious(stores, plan, plan.previous, buckets, signal, groupsMax),
    ...names,
  ])
  const blank = blankRow(plan)
  return {
    groupBy: plan.groupBy,
    from: toInstantText(plan.range.fromMs),
    to: toInstantText(plan.range.untilMs),
    ...(plan.tz !== undefined && { tz: plan.tz }),
    currency: plan.currency,
    data: buckets.map(({ ids, sums }) => {
      const row: ReportRow = { ...blank }
      setLabels(row, plan, ids, nameFunctions)
      setMetrics(row, sums, plan.metrics)
      if (previous) row.previous = previous.rowOf(ids)
      return row
    }),
    totals: toMetrics(totals, plan.metrics),
    ...(previous && { previous: previous.response }),
    ...plan.retained,
    bucketCount,
    truncated: bucketCount > buckets.length,
    asOf: toInstantText(plan.nowMs),
  }
}

async function readBuckets(
  { clickhouse }: RouteContext['stores'],
  plan: ReportPlan,
  signal: AbortSignal,
  groupsMax: number,
): Promise<Buckets> {
  const { metrics, order } = plan
  const options = { label: 'reports', signal, settings: factsSettings(plan.facts) }
  const needed = order.by === 'id' ? metrics : [...metrics, order.by]
  const groups = await readGroups(clickhouse, { facts: plan.facts, metrics: needed }, groupsMax, options)
  if (groups) return orderBuckets(groups, plan)
  const { rows, totals, rowsBeforeLimit } = await selectGroups<BucketRow>(clickhouse, reportSql(plan), options)
  return { buckets: rows.map(bucketOf), totals, bucketCount: rowsBeforeLimit }
}

function bucketOf({ id1, id2, id3, ...sums }: BucketRow): Bucket {
  return { ids: [id1, id2, id3].filter((id) => id !== undefined), sums }
}

/** Has the properties of a row in the order of the response: copies of it are faster than objects that properties are added to. */
function blankRow({ dimensions, metrics, previous }: ReportPlan): ReportRow {
  return {
    ...{ id: '', name: null },
    ...(dimensions.length > 1 && { dimensions: {} }),
    ...Object.fromEntries(metrics.map((metric) => [metric, null])),
    ...(previous && { previous: null }),
  } as unknown as ReportRow
}

/** Sets id and name of a row; with several dimensions also those of each. */
function setLabels(
  row: ReportRow,
  { dimensions }: ReportPlan,
  ids: readonly string[],
  names: readonly ((id: string) => string | null)[],
): void {
  if (ids.length === 1) {
    const [id = ''] = ids
    row.id = id
    row.name = names[0]?.(id) ?? null
    return
  }
  const labels: NonNullable<ReportRow['dimensions']> = {}
  let name = ''
  for (const [index, id] of ids.entries()) {
    const label = { id, name: names[index]?.(id) ?? null }
    labels[dimensions[index] as string] = label
    name += `${index === 0 ? '' : ' / '}${label.name ?? id}`
  }
  row.id = JSON.stringify(ids)
  row.name = name
  row.dimensions = labels
}

/** Reads the metrics of the earlier range: its totals, and those of the buckets that the rows of a report are compared with. */
async function readPrevious(
  stores: RouteContext['stores'],
  { dimensions, metrics }: ReportPlan,
  { facts, range, counterpartOf }: NonNullable<ReportPlan['previous']>,
  buckets: readonly Bucket[],
  signal: AbortSignal,
  groupsMax: number,
) {
  const counterparts = new Map(buckets.map(({ ids }) => [JSON.stringify(ids), counterpart(ids)]))
  const { groups, totals } = await readEarlier()
  const byIds = new Map(groups.map(({ ids, sums }) => [JSON.stringify(ids), sums]))
  return {
    response: {
      from: toInstantText(range.fromMs),
      to: toInstantText(range.untilMs),
      totals: toMetrics(totals, metrics),
    },
    rowOf(ids: readonly string[]) {
      const earlier = counterparts.get(JSON.stringify(ids)) ?? null
      const key = JSON.stringify(earlier)
      const id = earlier?.length === 1 ? (earlier[0] ?? null) : earlier && key
      return { id, ...toMetrics(byIds.get(key) ?? {}, metrics) }
    },
  }

  /** All groups of the earlier range, or those of the buckets, with the totals of all. */
  async function readEarlier(): Promise<{ groups: Bucket[]; totals: SumTexts }> {
    const options = { label: 'reports.previous', signal, settings: factsSettings(facts) }
    const groups = await readGroups(stores.clickhouse, { facts, metrics }, groupsMax, options)
    if (groups) return { groups, totals: addSums(groups.map(({ sums }) => sums)) }
    const wanted = [...counterparts.values()].filter((ids) => ids !== null)
    const settings = { ...options.settings, totals_mode: 'before_having' } as const
    const query = previousSql(facts, metrics, wanted)
    const { rows, totals } = await selectGroups<BucketRow>(stores.clickhouse, query, { ...options, settings })
    return { groups: rows.map(bucketOf), totals }
  }

  function counterpart(ids: readonly string[]): string[] | null {
    const earlier = ids.map((id, index) => counterpartOf(dimensions[index] as ReportPlan['dimensions'][number], id))
    return earlier.some((id) => id === null) ? null : (earlier as string[])
  }
}
