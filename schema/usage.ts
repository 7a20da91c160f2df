import { type Static, Type } from '@sinclair/typebox'
import { fairUseFactor } from './event.ts'
import { Instant } from './scalars.ts'

export const UsageQuery = Type.Object({}, { additionalProperties: false })

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const Usage = Type.Object({
  from: Type.String({ ...Instant, description: 'The first moment of this UTC month.' }),
  to: Type.String({ ...Instant, description: 'The first moment of the next one, when the counts start at zero.' }),
  plan: Type.String({ description: 'The name of the plan.', examples: ['pro'] }),
  clicks: Type.Object({
    tracked: count('Clicks of this month as stats and reports count them: neither bots nor tests.'),
    allowance: count('Clicks a month that the plan covers.'),
  }),
  events: Type.Object({
    stored: count('Server events stored this month; duplicates are not stored again.'),
    ceiling: count(`${fairUseFactor} times the allowance of clicks; beyond it events are accepted and not stored.`),
  }),
  limits: Type.Object({
    requestsPerMinute: count('Requests that this key may send a minute, events apart.'),
    eventsPerMinute: count('Events that this key may send a minute.'),
    identifierEventsPerMinute: count('Events that one click or visitor may have a minute.'),
  }),
  asOf: Instant,
})
export type Usage = Static<typeof Usage>
