import { type Static, Type } from '@sinclair/typebox'
import { fairUseFactor } from './event.ts'
import { described, Instant, Named, Nullable } from './scalars.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** Requests and events per minute that a subscription plan allows. */
export const PlanLimits = Named('PlanLimits', {
  requestsPerMinute: count('Requests per minute of this key, without events.'),
  eventsPerMinute: count('Events per minute of this key.'),
  identifierEventsPerMinute: count('Events per minute of one click or visitor.'),
})
export type PlanLimits = Static<typeof PlanLimits>

export const Usage = Named('Usage', {
  from: described(Instant, 'Start of the current UTC month.'),
  to: described(Instant, 'Start of the next UTC month, when the counts start at zero.'),
  plan: Type.String({ description: 'Name of the subscription plan.', examples: ['pro'] }),
  clicks: Type.Object({
    tracked: count('Clicks of this month, without bots and tests, as in stats and reports.'),
    allowance: count('Clicks per month included in the plan.'),
  }),
  events: Type.Object({
    stored: count(
      'Server events stored this month. Copies of an event, after a repeated insert or two concurrent ones, may count until a merge.',
    ),
    ceiling: count(
      `Fair-use ceiling: ${fairUseFactor} times the click allowance. Events beyond it are accepted but not stored.`,
    ),
  }),
  limits: PlanLimits,
  lastStoredAt: Type.Object(
    { clicks: Nullable(Instant), conversions: Nullable(Instant), costs: Nullable(Instant) },
    { description: 'When the last row was stored; null without rows.' },
  ),
  asOf: Instant,
})
export type Usage = Static<typeof Usage>
