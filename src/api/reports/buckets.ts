import type { ReportMetric } from '../../../schema/metrics.ts'
import {
  addSums,
  countsRows,
  type ExactSums,
  readOrderValue,
  readSums,
  type SumTexts,
} from '../../query/evaluateMetrics.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { type KeyedSums, keyedSumsSql, readId } from '../../query/facts/sql.ts'
import type { Millionths } from '../../query/money.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { type QueryOptions, selectGroups, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, count, type Fragment } from '../../stores/clickhouse/sql.ts'
import { leastCounts, type ReportPlan } from './plan.ts'

export interface Bucket {
  ids: readonly string[]
  sums: ExactSums
}

/** The buckets that a report shows, and the totals and the number of all. */
export interface Buckets {
  buckets: readonly Bucket[]
  totals: ExactSums
  bucketCount: number
}

/**
 * Reads all groups of one dimension from sums tables, unordered.
 * @returns undefined when there are more groups than `groupsMax`, several dimensions, or rows to read
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readGroups(
  clickhouse: ClickHouse,
  facts: FactsPlan,
  metrics: readonly ReportMetric[],
  groupsMax: number,
  options: QueryOptions,
): Promise<Bucket[] | undefined> {
  if (facts.dimensions.length > 1 || facts.parts.some(({ source }) => source === 'rows')) return undefined
  const query = ch`${keyedSumsSql(facts, metrics)}
LIMIT ${count(groupsMax + 1)}`
  // ClickHouse stops reading once it has found more groups; 0 would be no limit.
  const limit = { max_rows_to_group_by: `${groupsMax + 1}`, group_by_overflow_mode: 'break' } as const
  const settings = { ...options.settings, ...limit }
  const rows = await selectRows<KeyedSums>(clickhouse, query, { ...options, settings })
  if (rows.length > groupsMax) return undefined
  const groups = rows.map((row) => ({ ids: [readId(facts, row)], sums: readSums(row) }))
  return groups.filter(({ sums }) => countsRows(sums))
}

/**
 * Reads the buckets that ClickHouse selects and orders.
 * @param query returns rows `id1`, …, one per dimension, and sums; totals include all buckets
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readBuckets(clickhouse: ClickHouse, query: Fragment, options: QueryOptions): Promise<Buckets> {
  type Row = SumTexts & { id1: string; id2?: string; id3?: string }
  const { rows, totals, rowsBeforeLimit } = await selectGroups<Row>(clickhouse, query, options)
  const buckets = rows.map(({ id1, id2, id3, ...sums }) => ({
    ids: [id1, id2, id3].filter((id) => id !== undefined),
    sums: readSums(sums),
  }))
  return { buckets, totals: readSums(totals), bucketCount: rowsBeforeLimit }
}

/** @returns all groups, unordered, and their totals */
export function allBuckets(buckets: readonly Bucket[]): Buckets {
  return { buckets, totals: addSums(buckets.map(({ sums }) => sums)), bucketCount: buckets.length }
}

/** Selects and orders the buckets of a report of one dimension from all its groups, as `reportSql` does. */
export function orderBuckets(groups: readonly Bucket[], { order, offset, limit, least }: ReportPlan): Buckets {
  const { by, isDescending } = order
  const direction = isDescending ? -1 : 1
  const counts = leastCounts(least).map(([metric, value]) => [metric, value * 1e6] as const)
  const selected = groups.filter(({ sums }) =>
    counts.every(([metric, least]) => (readOrderValue(metric, sums) ?? 0) >= least),
  )
  const ordered = selected
    .map((bucket) => ({
      bucket,
      value: by === 'id' ? 0 : readOrderValue(by, bucket.sums),
      // ClickHouse orders ids by their bytes.
      id: Buffer.from(bucket.ids[0] ?? ''),
    }))
    .sort(
      (a, b) =>
        compareValues(a.value, b.value, direction) || (by === 'id' ? direction : 1) * Buffer.compare(a.id, b.id),
    )
  const buckets = ordered.slice(offset, offset + limit).map(({ bucket }) => bucket)
  return { ...allBuckets(groups), buckets, bucketCount: selected.length }
}

/** Null is last in both directions. */
function compareValues(a: Millionths | null, b: Millionths | null, direction: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  // TRAP: one of two equal values can be a bigint, and `1 === 1n` is false.
  if (a < b) return -direction
  return a > b ? direction : 0
}
