import { ch, count, type Fragment, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
import { type FunnelPlan, isRepeated } from './plan.ts'

// A worked example: the steps visit, signup, purchase with a window of 7 days, and the rows of one visitor, sorted.
//
//   position                             1          2          3          4          5
//   row (step and day)                   visit 1    signup 2   visit 3    signup 4   purchase 9
//   next_3_3: the next purchase          9          9          9          9          9
//   next_2_2: the next signup            2          2          4          4          none
//   next_2_3: the purchase after it      9          9          9          9          none
//   steps reached from this visit        2 (8 days)            3 (6 days)
//
// The longest chain starts at the visit of day 3: `depth` 3, `gap2` 1 day, `gap3` 5 days.
//
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
 * `rows_of_k` has the rows of step k, `next_k_k` copies each backward to the positions before it, and `next_k_j` does the same
 * with the row of the later step j that continues a chain from there. So the time is linear in the number of rows, whatever
 * their distribution over units. Arrays of numbers take less time than one array of tuples.
 *
 * The same step twice in a row moves on by one position, so that a row counts for one step. Copies of a row that are not merged
 * yet are collapsed to the earliest one, but only where a step is repeated: otherwise equal copies do not change a chain.
 * @param rows columns `unit`, `moment` (the number of the row), `row` (its key, if a step is repeated), `bucket` (if grouped)
 * @returns rows `depth` (number of steps reached), `gap2`, `gap3`, … (milliseconds since the previous step), `bucket`
 */
export function chainsSql(plan: FunnelPlan, rows: Fragment): Fragment {
  const { steps, labelOf, windowMs, groupBy } = plan
  const last = steps.length
  const all = isRepeated(plan)
    ? ch`arrayFilter((x, occurrence) -> occurrence = 1, (arraySort(groupArray((moment, row))) AS pairs).1, arrayEnumerateUniq(pairs.2))`
    : ch`arraySort(groupArray(moment))`
  const definitions = [ch`${all} AS rows`]
  for (let step = last; step >= 2; step--) {
    const rowsOf = identifier(`rows_of_${step}`)
    const isOfStep = ch`bitAnd(bitShiftRight(x, 1), 7) = ${count(labelOf[step - 1] as number)}`
    const isSameAsBefore = labelOf[step - 1] === labelOf[step - 2]
    definitions.push(ch`arrayMap(x -> if(${isOfStep}, x, ${none}), rows) AS ${rowsOf}`)
    for (let later = step; later <= last; later++) {
      const filled =
        later === step
          ? ch`arrayReverseFill(x -> x != ${none}, ${rowsOf})`
          : ch`arrayReverseFill((y, x) -> x != ${none}, ${nextOf(step + 1, later)}, ${rowsOf})`
      const next = isSameAsBefore ? ch`arraySlice(arrayPushBack(${filled}, ${none}), 2)` : filled
      definitions.push(ch`${next} AS ${nextOf(step, later)}`)
    }
  }
  const laterSteps = steps.slice(1).map((_, index) => index + 2)
  const limit = ch`x + ${count(windowMs * 16 + 15)}`
  const names = laterSteps.map((step) => identifier(`y${step}`))
  const depths = laterSteps.map((step, index) => ch`${names[index] as Fragment} > ${limit}, ${count(step - 1)}`)
  const depth = last === 1 ? ch`1` : ch`multiIf(${join(depths)}, ${count(last)})`
  const nexts = laterSteps.map((step) => nextOf(2, step))
  definitions.push(
    ch`arrayMap((${join([ch`x`, ...names])}) -> if(bitAnd(x, 15) = 0, bitOr(bitShiftLeft(toUInt64(8 - ${depth}), ${depthShift}), x), ${none}), ${join([ch`rows`, ...nexts])}) AS chains`,
    ch`arrayMin(chains) AS chain`,
    ch`indexOf(chains, chain) AS position`,
    ch`bitAnd(chain, bitShiftLeft(toUInt64(1), ${depthShift}) - 1) AS start`,
  )
  const gaps = laterSteps.map((step) => {
    const before = step === 2 ? ch`start` : ch`${nextOf(2, step - 1)}[position]`
    return ch`intDiv(${nextOf(2, step)}[position], 16) - intDiv(${before}, 16) AS ${identifier(`gap${step}`)}`
  })
  // If several rows start at the same moment, the smallest bucket. Two arrays take less time than one of tuples.
  const isStart = ch`bitAnd(moment, 15) = 0`
  const bucket = ch`,
  arrayMin(arrayFilter((y, x) -> x = start, groupArrayIf(bucket, ${isStart}), groupArrayIf(moment, ${isStart}))) AS bucket`
  return ch`
WITH
  ${join(definitions, ',\n  ')}
SELECT ${join([ch`8 - bitShiftRight(chain, ${depthShift}) AS depth`, ...gaps])}${groupBy ? bucket : nothing}
FROM (${rows})
GROUP BY unit
HAVING chain != ${none}`
}

/**
 * For each position, the row of step `later` in the chain that continues there with step `step`. Without a row of `step` only
 * the first of these arrays has `none`.
 */
const nextOf = (step: number, later: number): Fragment => identifier(`next_${step}_${later}`)
