import { type TObject, Type } from '@sinclair/typebox'
import { Instant, OneOf, optional } from './scalars.ts'

export const comparisons = ['previous_period', 'previous_year'] as const
export type Comparison = (typeof comparisons)[number]

/** Parameter of reports and stats that adds the metrics of an earlier range. */
export const compareParameter = optional({
  compare: OneOf(comparisons, {
    description:
      'Adds the metrics of an earlier range as `previous`: the range before of the same length, or the same range of the previous year. If the range includes the present, the earlier range ends at the same local time.',
  }),
})

/** Field of a response with totals. @param totals schema of the metrics */
export function previousTotals<Totals extends TObject>(totals: Totals) {
  return optional({
    previous: Type.Object(
      { from: Instant, to: Instant, totals },
      { description: 'With `compare`: the earlier range and its totals.' },
    ),
  })
}
