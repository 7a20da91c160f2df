import { type Static, Type } from '@sinclair/typebox'
import { EventRow, eventNamePattern, eventOrigins } from './event.ts'
import { eventFilterTreeParameter } from './filters.ts'
import { listParameters, OrderedPage, retainedFrom } from './page.ts'
import { described, eventIdPattern, Id, isRepeatable, OneOf, optional } from './scalars.ts'

const asOf =
  'every event with a `storedAt` before this time is visible, and no event is stored with an earlier one afterwards unless the clock of the store is set back, so read again from a minute before it; null otherwise.'

export const EventPage = Type.Object({ ...OrderedPage(EventRow, asOf).properties, ...retainedFrom })

const name = eventNamePattern.slice(1, -1)
/** One or more event names, separated by commas. */
export const eventNamesPattern = `^${name}(,${name})*$`

export const EventListQuery = Type.Object({
  ...listParameters(EventRow),
  ...optional({
    event_name: Type.String({
      [isRepeatable]: true,
      pattern: eventNamesPattern,
      maxLength: 4_096,
      description: 'Only events with one of these names, separated by commas.',
    }),
    origin: OneOf(eventOrigins, { description: 'Only events of your server, or of the pixel.' }),
    campaign_id: described(Id, 'Only events of this campaign.'),
    click_id: described(Id, 'Only events of this click.'),
    visitor_id: described(Id, 'Only events with this visitor id.'),
  }),
  ...eventFilterTreeParameter,
})
export type EventListQuery = Static<typeof EventListQuery>

/** Path parameters of a single event. */
export const EventPath = Type.Object({
  id: Type.String({
    pattern: eventIdPattern,
    description: '`event_id` of a server event.',
    examples: ['order-1042-paid'],
  }),
})
