import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dimension } from '../../../schema/dimensions.ts'
import { isNamedMetric } from '../../../schema/metrics.ts'
import { type ReportResponse, reportBucketsMax } from '../../../schema/report.ts'
import { addSums, type ExactSums, noSums, readSums, type SumTexts, toMetrics } from '../../query/evaluateMetrics.ts'
import { eventsByTime } from '../../query/eventRows.ts'
import { latestEventSql } from '../../query/facts/events.ts'
import { comparedTotals, countAtFields } from '../../query/facts/responseFields.ts'
import { bucketMetrics } from '../../query/facts/sql.ts'
import { type ReadContext, readGroups, readRows } from '../../query/readContext.ts'
import { rangeTexts, toInstantText } from '../../query/timeRange.ts'
import { readNames } from '../../rows/dimensionNames.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { nextQuery } from './nextQuery.ts'
import type { ReportPlan } from './plan.ts'
import { allGroupsSql, comparedSql, reportSettings, reportSql, totalsSettings } from './sql.ts'

/**
 * Executes a report: reads its buckets, then the same buckets of the compared range and the names of all, and makes the rows.
 * @returns up to `limit` rows; totals and bucketCount include all buckets
 */
export async function runReport(context: RowContext, plan: ReportPlan): Promise<ReportResponse> {
  const [all, allCompared] = mayFit(plan) ? await readAllGroups(context, plan) : []
  const { buckets, totals, bucketCount } = await readBuckets(context, plan, all)
  const [dataThrough, compared, names] = await Promise.all([
    readDataThrough(context, plan),
    readCompared(context, plan, buckets, allCompared),
    readLabels(context, plan, buckets),
  ])
  await nextTurn()
  const data = buckets.map(({ ids, sums }, index) => {
    const labels = ids.map((id, position) => ({ id, name: names[position]?.(id) ?? null }))
    return {
      id: bucketId(ids),
      name: labels.length === 1 ? (labels[0]?.name ?? null) : labels.map(({ id, name }) => name ?? id).join(' / '),
      dimensions: Object.fromEntries(labels.map((label, position) => [plan.dimensions[position] as string, label])),
      ...toMetrics(sums, plan.metrics),
      ...(compared && { previous: compared.rows[index] as PreviousRow }),
    }
  })
  const truncated = bucketCount > plan.offset + buckets.length
  return {
    groupBy: plan.query.group_by,
    ...rangeTexts(plan.range),
    ...(plan.query.tz !== undefined && { tz: plan.tz }),
    currency: plan.currency,
    ...countAtFields(plan),
    data,
    totals: toMetrics(totals, plan.metrics),
    ...(compared && { previous: compared.totals }),
    ...plan.retained,
    bucketCount,
    truncated,
    next: truncated ? nextQuery(plan, buckets.length) : null,
    ...(dataThrough && { dataThrough }),
    asOf: toInstantText(plan.nowMs),
  }
}

/** Reads up to when there are events, if the report counts them. */
async function readDataThrough(context: ReadContext, { facts, dataThrough, accountId, nowMs }: ReportPlan) {
  if (!facts.events || !dataThrough) return dataThrough
  const query = latestEventSql(accountId, nowMs)
  const [event] = await readRows<{ atMs: number }>(context, query, 'reports.events', eventsByTime)
  return { ...dataThrough, events: event ? toInstantText(event.atMs) : null }
}

interface Bucket {
  /** One per dimension. */
  ids: readonly string[]
  sums: ExactSums
}

type Row = SumTexts & { id1: string; id2?: string; id3?: string; isCompared?: number }
/** `totals` and `groupCount` are of all groups; without `totals`, `rows` are all groups. */
type Groups = { rows: readonly Row[]; totals?: Row; groupCount?: number }

/** @param all all groups, if they were read @returns the buckets of the response, and the totals and the number of all */
async function readBuckets(context: ReadContext, plan: ReportPlan, all: readonly Row[] | undefined) {
  const ofBuckets = bucketMetrics(plan.facts, plan.view)
  const rows = all?.filter((row) => ofBuckets.some((metric) => Number(row[metric] ?? 0) !== 0)) ?? []
  // A group of zeros is a bucket if it has another metric, which was not read.
  const isComplete = rows.length === all?.length || ofBuckets.every((metric) => all?.[0]?.[metric] !== undefined)
  if (all && isComplete) return bucketsOf(plan, { rows })
  return bucketsOf(plan, await readGroups<Row>(context, reportSql(plan), 'reports', reportSettings(plan)))
}

/**
 * Reads all groups of the range and of the compared range, which takes less time than conditions on groups.
 * @returns the groups of both ranges, of each one only if they fit a response
 */
async function readAllGroups(context: ReadContext, plan: ReportPlan) {
  // ClickHouse stops reading once it has found more groups.
  const maximum = { max_rows_to_group_by: `${reportBucketsMax + 1}`, group_by_overflow_mode: 'break' } as const
  const settings = { ...reportSettings(plan, true), ...maximum }
  const rows = await readRows<Row>(context, allGroupsSql(plan), 'reports', settings)
  const groups = [0, 1].map((range) => rows.filter(({ isCompared }) => isCompared === range))
  return groups.map((all) => (all.length > reportBucketsMax ? undefined : all))
}

/**
 * Whether all groups probably fit a response. Dimensions that only rows have, such as sub ids, may have any number of values, and a value
 * of entities any number of ids.
 */
function mayFit({ dimensions, facts, limit, offset, order, metricConditions }: ReportPlan): boolean {
  const isWhole = limit === reportBucketsMax && offset === 0 && metricConditions.length === 0 && !order.isChange
  const { parts, events, values } = facts
  return isWhole && dimensions.length === 1 && parts.some(({ table }) => table !== 'rows') && !events && !values[0]
}

/** @returns the buckets that a statement selects, and the totals and the number of all */
async function bucketsOf({ metrics }: ReportPlan, { rows, totals, groupCount: bucketCount = rows.length }: Groups) {
  await nextTurn()
  const named = metrics.filter(isNamedMetric)
  const buckets = rows.map(({ id1, id2, id3, ...sums }): Bucket => {
    return { ids: [id1, id2, id3].filter((id) => id !== undefined), sums: readSums(sums, named) }
  })
  return { buckets, bucketCount, totals: totals ? readSums(totals, named) : addSums(buckets.map(({ sums }) => sums)) }
}

type PreviousRow = NonNullable<ReportResponse['data'][number]['previous']>

/**
 * Reads the totals of the compared range, and the buckets that some buckets are compared with.
 * @param all all groups of that range, if they were read
 * @returns a row for each of these buckets
 */
async function readCompared(context: ReadContext, plan: ReportPlan, buckets: readonly Bucket[], all?: readonly Row[]) {
  const { compared, dimensions, metrics } = plan
  if (!compared) return undefined
  const counterparts = buckets.map(({ ids }) => {
    const comparedIds = ids.map((id, index) => compared.counterpartOf(dimensions[index] as Dimension, id))
    return comparedIds.every((id) => id !== null) ? comparedIds : null
  })
  const wanted = counterparts.filter((ids) => ids !== null)
  const { facts } = compared
  const groups = all
    ? { rows: all }
    : await readGroups<Row>(context, comparedSql(facts, metrics, wanted), 'reports.previous', totalsSettings(facts))
  const found = await bucketsOf(plan, groups)
  // No id has NUL.
  const sumsByKey = new Map(found.buckets.map(({ ids, sums }) => [ids.join('\0'), sums]))
  await nextTurn()
  return {
    totals: comparedTotals(compared, plan, found.totals),
    rows: counterparts.map((ids): PreviousRow => {
      const sums = ids ? sumsByKey.get(ids.join('\0')) : undefined
      return { id: ids && bucketId(ids), ...toMetrics(sums ?? noSums, metrics) }
    }),
  }
}

/** Reads the names of buckets. @returns for each dimension the function to the name of an id */
function readLabels({ nameCache }: RowContext, { accountId, dimensions }: ReportPlan, buckets: readonly Bucket[]) {
  return Promise.all(
    dimensions.map((dimension, index) => {
      const ids = buckets.map((bucket) => bucket.ids[index] ?? '')
      return readNames(nameCache, accountId, dimension, ids)
    }),
  )
}

function bucketId(ids: readonly string[]): string {
  const [id = ''] = ids
  return ids.length === 1 ? id : JSON.stringify(ids)
}
