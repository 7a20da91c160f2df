import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { actualSums, comparedSums, type Span, type SumsTableName, storedSums, sumsTables } from './sumsTables.ts'

/** The sums that `sumDifferences` compares, each with its columns. */
export const differingSums = (span: Span) =>
  comparedSums(span).map((sum) => {
    return { ...sum, actual: identifier(`actual_${sum.name}`), stored: identifier(`stored_${sum.name}`) }
  })

/** SELECT of every key in whole UTC days whose sums differ from the rows, with the correct and the stored value of each sum. */
export function sumDifferences(name: SumsTableName, span: Span): Fragment {
  const { keys } = sumsTables[name]
  const sums = differingSums(span)
  const pairs = sums.flatMap(({ column, actual, stored }) => [
    ch`sumIf(${column}, is_actual) AS ${actual}`,
    ch`sumIf(${column}, NOT is_actual) AS ${stored}`,
  ])
  const unequal = sums.map(({ actual, stored }) => ch`${actual} != ${stored}`)
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
 * INSERT of the differences, as one block: readers see the old sums or the correct ones. Idempotent without other writers.
 * @param span whole UTC days of one year, which is one partition and so one part
 */
export function sumCorrection(name: SumsTableName, span: Span, condition: Fragment): Fragment {
  const { keys } = sumsTables[name]
  const sums = differingSums(span)
  const columns = sums.map(({ column }) => column)
  const missing = sums.map(({ actual, stored }) => ch`${actual} - ${stored}`)
  return ch`
INSERT INTO ${identifier(name)} (account_id, ${keys}, ${join(columns)})
SELECT account_id, ${keys}, ${join(missing)}
FROM (${sumDifferences(name, span)})
WHERE ${condition}`
}
