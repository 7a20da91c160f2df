import type { ReportResponse } from '../../../schema/report.ts'
import type { RouteContext } from '../../http/context.ts'
import { factsSettings } from '../../query/facts/sql.ts'
import { type SumTexts, setMetrics, toMetrics } from '../../query/metricFormulas.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import { selectGroups } from '../../stores/clickhouse/select.ts'
import type { ReportPlan } from './plan.ts'
import { previousSql, reportSql } from './sql.ts'

type Bucket = SumTexts & { id1: string; id2?: string; id3?: string }
type ReportRow = ReportResponse['data'][number]

/**
 * Executes a report and adds the names of its buckets.
 * @returns up to `limit` rows; totals and bucketCount include all buckets
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runReport(
  { stores, nameCache }: RouteContext,
  plan: ReportPlan,
  signal: AbortSignal,
): Promise<ReportResponse> {
  const options = { label: 'reports', signal, settings: factsSettings(plan.facts) }
  const { rows, totals, rowsBeforeLimit } = await selectGroups<Bucket>(stores.clickhouse, reportSql(plan), options)
  const buckets = rows.map(idsOf)
  const names = plan.dimensions.map((dimension, index) =>
    readNames(
      nameCache,
      plan.accountId,
      dimension,
      buckets.map((ids) => ids[index] ?? ''),
    ),
  )
  const [previous, ...nameFunctions] = await Promise.all([
    plan.previous && readPrevious(stores, plan, plan.previous, buckets, signal),
    ...names,
  ])
  const blank = blankRow(plan)
  return {
    groupBy: plan.groupBy,
    from: toInstantText(plan.range.fromMs),
    to: toInstantText(plan.range.untilMs),
    ...(plan.tz !== undefined && { tz: plan.tz }),
    currency: plan.currency,
    data: rows.map((sums, index) => {
      const ids = buckets[index] ?? []
      const row: ReportRow = { ...blank }
      setLabels(row, plan, ids, nameFunctions)
      setMetrics(row, sums, plan.metrics)
      if (previous) row.previous = previous.rowOf(ids)
      return row
    }),
    totals: toMetrics(totals, plan.metrics),
    ...(previous && { previous: previous.response }),
    ...plan.retained,
    bucketCount: rowsBeforeLimit,
    truncated: rowsBeforeLimit > rows.length,
    asOf: toInstantText(plan.nowMs),
  }
}

function idsOf({ id1, id2, id3 }: Bucket): string[] {
  return [id1, id2, id3].filter((id) => id !== undefined)
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
  buckets: readonly (readonly string[])[],
  signal: AbortSignal,
) {
  const counterparts = new Map(buckets.map((ids) => [JSON.stringify(ids), counterpart(ids)]))
  const wanted = [...counterparts.values()].filter((ids) => ids !== null)
  const settings = { ...factsSettings(facts), totals_mode: 'before_having' } as const
  const { rows, totals } = await selectGroups<Bucket>(stores.clickhouse, previousSql(facts, metrics, wanted), {
    label: 'reports.previous',
    signal,
    settings,
  })
  const byIds = new Map(rows.map((row) => [JSON.stringify(idsOf(row)), row]))
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

  function counterpart(ids: readonly string[]): string[] | null {
    const earlier = ids.map((id, index) => counterpartOf(dimensions[index] as ReportPlan['dimensions'][number], id))
    return earlier.some((id) => id === null) ? null : (earlier as string[])
  }
}
