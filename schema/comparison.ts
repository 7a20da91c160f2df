import { type TObject, Type } from '@sinclair/typebox'
import { instantPattern, momentPattern } from './range.ts'
import { Instant, OneOf, optional } from './scalars.ts'

export const comparisons = ['previous_period', 'previous_year'] as const
export type Comparison = (typeof comparisons)[number]

/** Parameters of reports and stats that add the metrics of another range. */
export const compareParameters = optional({
  compare: OneOf(comparisons, {
    description:
      'Adds the metrics of an earlier range as `previous`: the range before of the same length, or the same range of the previous year. If the range includes the present, the earlier range ends at the same local time.',
  }),
  compare_from: Type.String({
    pattern: momentPattern,
    description:
      'Start of any other range to compare with, in the forms of `from`; requires `compare_to`, without `compare`. Hours, days, weeks and months are compared by their position in the range.',
  }),
  compare_to: Type.String({
    pattern: momentPattern,
    description: 'End of the other range, in the forms of `to`; requires `compare_from`.',
  }),
  previous_until: Type.String({
    pattern: instantPattern,
    description:
      'End of the other range in an earlier response, its `previous.to`: later pages and repetitions then have the same range. `next` of a report sets it.',
  }),
})

/** The other range of a comparison. */
export const comparedRange = {
  from: Instant,
  to: Instant,
  complete: Type.Boolean({ description: 'Whether this range is over: false if it ends after the present.' }),
}

/** Field of a response with totals. @param totals schema of the metrics */
export function previousTotals<Totals extends TObject>(totals: Totals) {
  return optional({
    previous: Type.Object(
      { ...comparedRange, totals: Type.Union([totals, Type.Null()]) },
      {
        description:
          'With `compare` or `compare_from`: the other range and its totals; `totals` are null if all its rows are removed.',
      },
    ),
  })
}
