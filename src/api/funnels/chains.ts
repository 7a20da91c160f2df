import { ch, count, type Fragment, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
import type { FunnelPlan } from './plan.ts'

// A row is one UInt64: 16 × epoch milliseconds + 2 × label + 1 if it cannot start a chain. So the order of numbers is the order
// of rows: by time, rows at the same moment by label, which is the order of the steps.

/** Greater than every row, also with a depth in its highest bits. */
const none = ch`18446744073709551615`
const depthShift = ch`60`

/** @returns the number of a row */
export function rowNumber(at: Fragment, label: Fragment, cannotStart: Fragment): Fragment {
  return ch`toUInt64(toUnixTimestamp64Milli(${at}) * 16 + ${label} * 2 + ${cannotStart})`
}

/**
 * Finds the chain of each unit (visitor or click): the longest one that starts at a row which may start, and ends within
 * the window; of equally long ones the earliest. From its start a chain continues with the next row of each step, which is
 * optimal: any other row is later and leaves less of the window.
 *
 * The next row of a step after each position is found for all rows of a unit at once, from the last step to the first:
 * `rows_of_k` has the rows of step k with the rows that continue a chain from there, `next_k` copies each backward to the
 * positions before it. So the time is linear in the number of rows, whatever their distribution over units.
 *
 * A unit with the same step twice in a row moves on by one position, so that a row counts for one step. Copies of a click that
 * are not merged yet have equal values, so they are collapsed only where a step is repeated: otherwise they do not change a
 * chain.
 * @param rows columns `unit`, `moment` (the number of the row), `row` (its key, if a step is repeated), `bucket` (if grouped)
 * @returns rows `depth` (number of steps reached), `gap2`, `gap3`, … (milliseconds since the previous step), `bucket`
 */
export function chainsSql({ steps, labelOf, windowMs, groupBy }: FunnelPlan, rows: Fragment): Fragment {
  const isRepeated = new Set(labelOf).size < labelOf.length
  const all = isRepeated
    ? ch`arrayMap(pair -> pair.1, arraySort(groupUniqArray((moment, row))))`
    : ch`arraySort(groupArray(moment))`
  const last = steps.length
  const definitions = [ch`${all} AS rows`]
  for (let step = last; step >= 2; step--) {
    const rowsOf = identifier(`rows_of_${step}`)
    const next = identifier(`next_${step}`)
    const following = step === last ? ch`rows` : identifier(`next_${step + 1}`)
    const isOfStep = ch`bitAnd(bitShiftRight(x, 1), 7) = ${count(labelOf[step - 1] as number)}`
    const noRow = tupleOf(none, none, last - step)
    const filled = ch`arrayReverseFill(t -> ${element(ch`t`, 1)} != ${none}, ${rowsOf})`
    definitions.push(
      ch`arrayMap((x, t) -> if(${isOfStep}, ${tupleOf(ch`x`, ch`t`, last - step)}, ${noRow}), rows, ${following}) AS ${rowsOf}`,
      labelOf[step - 1] === labelOf[step - 2]
        ? ch`arrayPushBack(arrayPopFront(${filled}), ${noRow}) AS ${next}`
        : ch`${filled} AS ${next}`,
    )
  }
  const positions = steps.slice(1).map((_, index) => index + 1)
  const limit = ch`x + ${count(windowMs * 16 + 15)}`
  const depth = ch`multiIf(${join(
    positions.map((position) => ch`${element(ch`t`, position)} > ${limit}, ${count(position)}`),
    ', ',
  )}, ${count(last)})`
  definitions.push(
    ch`arrayMap((x, t) -> if(bitAnd(x, 15) = 0, bitOr(bitShiftLeft(toUInt64(8 - ${depth}), ${depthShift}), x), ${none}), rows, next_2) AS chains`,
    ch`arrayMin(chains) AS chain`,
    ch`bitAnd(chain, bitShiftLeft(toUInt64(1), ${depthShift}) - 1) AS start`,
    ch`next_2[indexOf(chains, chain)] AS tail`,
  )
  const gaps = positions.map((position) => {
    const before = position === 1 ? ch`start` : element(ch`tail`, position - 1)
    return ch`intDiv(${element(ch`tail`, position)}, 16) - intDiv(${before}, 16) AS ${identifier(`gap${position + 1}`)}`
  })
  // Of starts at the same moment the one with the first bucket.
  const bucket = ch`,
  tupleElement(arrayFirst(pair -> pair.1 = start, arraySort(groupArrayIf((moment, bucket), bitAnd(moment, 15) = 0))), 2) AS bucket`
  return ch`
WITH
  ${join(definitions, ',\n  ')}
SELECT 8 - bitShiftRight(chain, ${depthShift}) AS depth, ${join(gaps, ', ')}${groupBy ? bucket : nothing}
FROM (${rows})
GROUP BY unit
HAVING chain != ${none}`
}

/** A row and those that continue a chain from it: the elements of the tuple `tail`, or `none` for each. */
function tupleOf(row: Fragment, tail: Fragment, tailLength: number): Fragment {
  const rest = Array.from({ length: tailLength }, (_, index) => (tail === none ? none : element(tail, index + 1)))
  return ch`tuple(${join([row, ...rest], ', ')})`
}

/** @param position from 1 */
function element(tuple: Fragment, position: number): Fragment {
  return ch`tupleElement(${tuple}, ${count(position)})`
}
