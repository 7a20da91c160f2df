import { Type } from '@sinclair/typebox'
import { OneOf, optional } from './scalars.ts'

/** Whether clicks of bots and their events count, and nothing else, or also. */
export const botsChoices = ['exclude', 'only', 'include'] as const
export type Bots = (typeof botsChoices)[number]

/** Parameters of reports and stats: what counts, and when. */
export const countParameters = optional({
  count_at: OneOf(['conversion', 'click'], {
    default: 'conversion',
    description:
      '`click`: conversions and their money count at the `clickedAt` of their row, else at `convertedAt`; clicks and cost count as always. A day of clicks then still gets conversions after its end.',
  }),
  bots: OneOf(botsChoices, {
    default: 'exclude',
    description:
      '`only`: clicks of bots and events of these clicks; nothing else counts. `include`: all clicks and events. Test clicks never count. Both read rows instead of sums: they count from `X-Retained-From` on.',
  }),
})

/** Field of their responses. */
export const countAtField = optional({
  countAt: Type.Literal('click', { description: 'Present with `count_at=click`.' }),
})
