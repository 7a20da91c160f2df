import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { actualSums, comparedSums, type Span, type SumsTableName, storedSums, sumsTables } from './sumsTables.ts'

/** Column names of a sum in `sumDifferences`. */
export const differenceColumns = (name: string) => ({
  actual: identifier(`actual_${name}`),
  stored: identifier(`stored_${name}`),
})

/** SELECT of every key in whole UTC days whose sums differ from the rows, with the correct and the stored value of each sum. */
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
 * INSERT of the differences, as one block: readers see the old sums or the correct ones. Idempotent without other writers.
 * @param span whole UTC days of one year, which is one partition and so one part
 */
export function sumCorrection(name: SumsTableName, span: Span, condition: Fragment): Fragment {
  const { keys } = sumsTables[name]
  const sums = comparedSums(span)
  const columns = sums.map(({ column }) => column)
  const missing = sums.map((sum) => ch`${differenceColumns(sum.name).actual} - ${differenceColumns(sum.name).stored}`)
  return ch`
INSERT INTO ${identifier(name)} (account_id, ${keys}, ${join(columns)})
SELECT account_id, ${keys}, ${join(missing)}
FROM (${sumDifferences(name, span)})
WHERE ${condition}`
}
