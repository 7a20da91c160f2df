import { type Static, Type } from '@sinclair/typebox'
import { Click } from './click.ts'
import { Conversion } from './conversion.ts'
import { EventRow } from './event.ts'
import { CompletePage, pageParameters, retainedFrom } from './page.ts'
import { described, Id, Instant, Named, OneOf, optional } from './scalars.ts'

/** The kinds of rows in a journey, in their order at the same moment. */
export const journeyKinds = ['click', 'event', 'conversion'] as const
export type JourneyKind = (typeof journeyKinds)[number]

/** The first fields of every row of a journey; the fields of the row in its own list follow. */
function commonFields<Kind extends JourneyKind>(kind: Kind, at: string) {
  return {
    id: Id,
    kind: Type.Literal(kind, { description: 'Kind of the row.' }),
    at: described(Instant, `Equal to \`${at}\`; the rows are in the order of this time.`),
  }
}

const JourneyRow = Type.Union(
  [
    Named('JourneyClick', { ...commonFields('click', 'clickedAt'), ...Click.properties }),
    Named('JourneyEvent', { ...commonFields('event', 'occurredAt'), ...EventRow.properties }),
    Named('JourneyConversion', { ...commonFields('conversion', 'convertedAt'), ...Conversion.properties }),
  ],
  // The documentation page accepts a named schema only with a type.
  { $id: 'JourneyRow', type: 'object' },
)

export const JourneyPage = Type.Object({
  ...CompletePage(JourneyRow).properties,
  omitted: Type.Array(OneOf(journeyKinds), {
    description:
      'Kinds that the API key may not read: `click` requires the scope `read:clicks`, `conversion` requires `read:conversions`.',
  }),
  ...retainedFrom,
})
export type JourneyPage = Static<typeof JourneyPage>

export const JourneyQuery = Type.Object({
  ...optional({
    visitor_id: Type.String({
      ...Id,
      description:
        'The journey of this visitor: rows with this visitor id, and the events and conversions of its clicks. Required without `click_id`.',
      examples: ['vis-sg85-20261120-00015'],
      // OpenAPI cannot express that one of two parameters is required.
      'x-required-without': 'click_id',
    }),
    click_id: described(
      Id,
      'The journey of this click: the click, its events and its conversions. Not with `visitor_id`.',
    ),
  }),
  ...pageParameters,
})
export type JourneyQuery = Static<typeof JourneyQuery>
