import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { mustBeginBefore, runStatement, type WriteBounds } from '../../stores/clickhouse/insert.ts'
import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { actualSums, comparedSums, type Span, type SumsTableName, storedSums, sumsTables } from './sumsTables.ts'

/** Column names of a sum in `differences`. */
export const differenceColumns = (name: string) => ({
  actual: identifier(`actual_${name}`),
  stored: identifier(`stored_${name}`),
})

/**
 * SELECT of every key of a rollup with sums that differ from those of the clicks and conversions: the key, and the correct and
 * the stored value of each compared sum. No row: the rollup is correct in that span.
 * @param span whole UTC days
 */
export function sumDifferences(name: SumsTableName, span: Span): Fragment {
  const { keys } = sumsTables[name]
  const sums = comparedSums(span)
  const pairs = sums.flatMap((sum) => [
    ch`sumIf(${sum.column}, is_actual) AS ${differenceColumns(sum.name).actual}`,
    ch`sumIf(${sum.column}, NOT is_actual) AS ${differenceColumns(sum.name).stored}`,
  ])
  const unequal = sums.map((sum) => ch`${differenceColumns(sum.name).actual} != ${differenceColumns(sum.name).stored}`)
  return ch`
SELECT
  account_id, ${keys},
  ${join(pairs, ',\n  ')}
FROM (
  SELECT *, true AS is_actual FROM (${actualSums(name, span)})
  UNION ALL
  SELECT *, false AS is_actual FROM (${storedSums(name, span)}))
GROUP BY account_id, ${keys}
HAVING ${join(unequal, ' OR ')}`
}

/**
 * Corrects a rollup by inserting the differences, positive or negative, as one block: readers see the old sums or the
 * correct ones. Idempotent. No other process may write or repair rows of the account meanwhile.
 * @param span whole UTC days of one year, which is one partition and so one part
 * @throws NotBegun when nothing was written, Problem `unavailable` when the outcome is unknown
 */
export async function repairSumsTable(
  clickhouse: ClickHouse,
  name: SumsTableName,
  span: Span,
  { deadlineMs, queryId }: WriteBounds,
): Promise<void> {
  const { table, keys } = sumsTables[name]
  const sums = comparedSums(span)
  const columns = join(
    sums.map(({ column }) => column),
    ', ',
  )
  const missing = sums.map((sum) => ch`${differenceColumns(sum.name).actual} - ${differenceColumns(sum.name).stored}`)
  await runStatement(
    clickhouse,
    ch`
INSERT INTO ${table} (account_id, ${keys}, ${columns})
SELECT account_id, ${keys}, ${join(missing, ', ')}
FROM (${sumDifferences(name, span)})
WHERE ${mustBeginBefore(deadlineMs)}`,
    `repair.${name}`,
    queryId,
  )
}
