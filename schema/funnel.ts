import { type Static, Type } from '@sinclair/typebox'
import { eventNamePattern } from './event.ts'
import { filterParameters } from './filters.ts'
import { retainedFrom } from './page.ts'
import { daysParameter, localRangeParameters, timeZoneParameter } from './range.ts'
import { Instant, isRepeatable, Named, Nullable, NullableText, OneOf, optional } from './scalars.ts'

const funnelStepsMax = 8
/** Groups in a response. */
export const funnelGroupsMax = 1000

const step = `(event:)?${eventNamePattern.slice(1, -1)}`
/** One to eight steps, separated by commas. */
export const funnelStepsPattern = `^${step}(,${step}){0,${funnelStepsMax - 1}}$`
/** Hours or days; the limits are checked by the plan. */
export const funnelWindowPattern = '^[1-9][0-9]{0,2}[hd]$'

/** Dimensions that a funnel can be grouped by. */
export const funnelDimensions = ['campaign', 'country', 'device', 'traffic_source'] as const

export const FunnelQuery = Type.Object({
  steps: Type.String({
    [isRepeatable]: true,
    pattern: funnelStepsPattern,
    maxLength: 1_024,
    description: `One to ${funnelStepsMax} steps, separated by commas: an event name, \`click\`, or \`conversion\` (approved conversions). \`event:click\` is an event with the name click. \`click\` requires the scope \`read:clicks\`, \`conversion\` requires \`read:conversions\`.`,
    examples: ['visit,signup,trial_started,purchase'],
  }),
  ...optional({
    by: OneOf(['visitor', 'click'], {
      default: 'visitor',
      description:
        'What is counted. `visitor`: the visitor of the row, else the visitor of its click, else the click. `click`: clicks; events without a click are excluded.',
    }),
    window: Type.String({
      pattern: funnelWindowPattern,
      default: '7d',
      description: 'Maximum time from the first step to the last, `1h` to `30d`.',
    }),
    ...daysParameter(365),
    ...localRangeParameters,
    ...timeZoneParameter,
    group_by: OneOf(funnelDimensions, {
      description: 'Adds `data`: the funnel for each value, of the row of the first step or its click.',
    }),
  }),
  ...filterParameters,
})
export type FunnelQuery = Static<typeof FunnelQuery>

const percent = (of: string, nulls: string) =>
  Nullable(
    Type.Number({
      description: `Percent of the visitors or clicks that reached the ${of} step; at most 6 decimals; null ${nulls}.`,
    }),
  )

const FunnelStep = Named('FunnelStep', {
  step: Type.String({ description: 'As in the request.' }),
  entered: Type.Integer({ minimum: 0, description: 'Visitors or clicks that reached this step.' }),
  fromPrevious: percent('previous', 'for the first step and if there are none'),
  fromFirst: percent('first', 'if there are none'),
  medianSeconds: Nullable(
    Type.Number({
      minimum: 0,
      description:
        'Median seconds since the previous step, over the visitors or clicks that reached this step; null for the first step and if there are none.',
    }),
  ),
})

const FunnelGroup = Named('FunnelGroup', {
  id: Type.String({ description: 'Value of the dimension; `(not set)` without a value.' }),
  name: NullableText('Name of the value; null for an unknown id.'),
  steps: Type.Array(FunnelStep),
})

export const FunnelResponse = Named('Funnel', {
  from: Instant,
  to: Instant,
  steps: Type.Array(FunnelStep, { minItems: 1, maxItems: funnelStepsMax }),
  ...optional({
    data: Type.Array(FunnelGroup, {
      maxItems: funnelGroupsMax,
      description: `With \`group_by\`: at most ${funnelGroupsMax} values, ordered by \`entered\` of the first step, descending, then by id. \`steps\` includes all values.`,
    }),
  }),
  ...retainedFrom,
  asOf: Instant,
})
export type FunnelResponse = Static<typeof FunnelResponse>
