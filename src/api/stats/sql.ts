import type { FactsPlan } from '../../query/facts/plan.ts'
import { factsOf, idOf } from '../../query/facts/sql.ts'
import { selectedSums } from '../../query/metricFormulas.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'

/**
 * The statement of a series, of the one dimension of the plan.
 * @returns rows `id` and every sum, unordered; no row for a unit of time without rows
 */
export function seriesSql(facts: FactsPlan): Fragment {
  const { from, keys } = factsOf(facts)
  const [dimension] = facts.dimensions
  const [key] = keys
  if (!dimension || !key) throw new Error('A series has one dimension.')
  return ch`
SELECT
  ${idOf(dimension, key, facts)} AS id,
  ${selectedSums()}
FROM ${from}
GROUP BY ${key}`
}

/** The statement of the totals. @returns one row with every sum */
export function totalsSql(facts: FactsPlan): Fragment {
  return ch`
SELECT
  ${selectedSums()}
FROM ${factsOf(facts).from}`
}
