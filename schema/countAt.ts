import { Type } from '@sinclair/typebox'
import { OneOf, optional } from './scalars.ts'

/** Parameter of reports and stats. */
export const countAtParameter = optional({
  count_at: OneOf(['conversion', 'click'], {
    default: 'conversion',
    description:
      '`click`: conversions and their money count at the `clickedAt` of their row, else at `convertedAt`; clicks and cost count as always. A day of clicks then still gets conversions after its end.',
  }),
})

/** Field of their responses. */
export const countAtField = optional({
  countAt: Type.Literal('click', { description: 'Present with `count_at=click`.' }),
})
