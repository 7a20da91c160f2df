import type { Metric } from '../../../schema/metrics.ts'
import { type KeyedSums, keyedSumsSql, readId } from '../../query/facts/keyedSums.ts'
import type { FactsPlan } from '../../query/facts/plan.ts'
import { addSums, countsRows, readOrderValue, type SumTexts } from '../../query/metricFormulas.ts'
import type { Millionths } from '../../query/money.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { type QueryOptions, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, count } from '../../stores/clickhouse/sql.ts'
import type { ReportPlan } from './plan.ts'

/** A bucket of a report: the id of each dimension, and its sums. */
export interface Bucket {
  ids: readonly string[]
  sums: SumTexts
}

/** The buckets that a report shows, and the totals and the number of all. */
export interface Buckets {
  buckets: Bucket[]
  totals: SumTexts
  bucketCount: number
}

/**
 * Reads all groups of one dimension from sums tables, unordered; those without rows too.
 * @returns undefined when there are more groups than `groupsMax`, several dimensions, or rows to read
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readGroups(
  clickhouse: ClickHouse,
  { facts, metrics }: { facts: FactsPlan; metrics: readonly Metric[] },
  groupsMax: number,
  options: QueryOptions,
): Promise<Bucket[] | undefined> {
  if (facts.dimensions.length > 1 || facts.parts.some(({ source }) => source === 'rows')) return undefined
  const query = ch`${keyedSumsSql(facts, metrics)}
LIMIT ${count(groupsMax + 1)}`
  // ClickHouse stops reading once it has found more groups; 0 would be no limit.
  const settings = { max_rows_to_group_by: `${groupsMax + 1}`, group_by_overflow_mode: 'break' } as const
  const rows = await selectRows<KeyedSums>(clickhouse, query, {
    ...options,
    settings: { ...options.settings, ...settings },
  })
  return rows.length > groupsMax ? undefined : rows.map((sums) => ({ ids: [readId(facts, sums)], sums }))
}

/** Selects and orders the buckets of a report of one dimension from all its groups, as `reportSql` does. */
export function orderBuckets(groups: readonly Bucket[], { order, limit }: ReportPlan): Buckets {
  const buckets = groups.filter(({ sums }) => countsRows(sums))
  const { by, isDescending } = order
  const direction = isDescending ? -1 : 1
  const ordered =
    by === 'id'
      ? buckets.sort((a, b) => direction * compareIds(a, b))
      : buckets
          .map((bucket) => ({ bucket, value: readOrderValue(by, bucket.sums) }))
          .sort((a, b) => compareValues(a.value, b.value, direction) || compareIds(a.bucket, b.bucket))
          .map(({ bucket }) => bucket)
  return {
    buckets: ordered.slice(0, limit),
    totals: addSums(buckets.map(({ sums }) => sums)),
    bucketCount: buckets.length,
  }
}

/** Null is last in both directions. */
function compareValues(a: Millionths | null, b: Millionths | null, direction: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (a === b) return 0
  return a < b ? -direction : direction
}

/** Compares ids by their bytes in UTF-8, as ClickHouse does. */
function compareIds({ ids: [a = ''] }: Bucket, { ids: [b = ''] }: Bucket): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (unitA === unitB) continue
    // Surrogates are parts of characters above all others.
    const [isAboveA, isAboveB] = [isSurrogate(unitA), isSurrogate(unitB)]
    return isAboveA === isAboveB ? unitA - unitB : Number(isAboveA) - Number(isAboveB)
  }
  return a.length - b.length
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xe000
