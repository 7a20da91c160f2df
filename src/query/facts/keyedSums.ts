import { notSet } from '../../../schema/dimensions.ts'
import type { Metric } from '../../../schema/metrics.ts'
import { ch, type Fragment, nothing } from '../../stores/clickhouse/sql.ts'
import { type SumTexts, selectedSums } from '../metricFormulas.ts'
import { type FactsPlan, isTime } from './plan.ts'
import { factsOf } from './sql.ts'
import { readTimeId, type TimeKey } from './timeKeys.ts'

/** Sums, and the key of the dimension. */
export type KeyedSums = SumTexts & { key: TimeKey }

/**
 * The plain statement of sums by at most one dimension: ClickHouse plans it in less time than one that also has ids, totals
 * and an order.
 * @returns rows of `KeyedSums` with the sums that the metrics are computed from, unordered; one row without a dimension
 */
export function keyedSumsSql(facts: FactsPlan, metrics?: readonly Metric[]): Fragment {
  const { from, keys } = factsOf(facts)
  const [key] = keys
  if (keys.length > 1) throw new Error('Sums have at most one key.')
  return ch`
SELECT${key ? ch` ${key} AS key,` : nothing}
  ${selectedSums(metrics)}
FROM ${from}${key ? ch`\nGROUP BY key` : nothing}`
}

/** @returns the id of the dimension in responses */
export function readId({ dimensions: [dimension], offsets }: FactsPlan, { key }: KeyedSums): string {
  return dimension && isTime(dimension) ? readTimeId(dimension, key, offsets) : `${key}` || notSet
}
