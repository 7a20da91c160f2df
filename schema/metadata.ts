import { type Static, type TObject, Type } from '@sinclair/typebox'
import { fieldsParameter } from './fields.ts'
import { pageParameters } from './page.ts'
import { formatParameter, listFormats } from './rowFormat.ts'
import { Currency, Id, Instant, Money, Named, Nullable, NullableText, OneOf, optional } from './scalars.ts'

/** Tables of entities with a name, which rows of clicks and conversions show. */
export const namedTables = ['campaigns', 'offers', 'landing_pages', 'traffic_sources'] as const
export type NamedTable = (typeof namedTables)[number]

export const metadataStatuses = ['active', 'paused', 'archived'] as const

const Status = OneOf(metadataStatuses)
const texts = (description: string) => Type.Array(Type.String(), { description })
const namedFields = { id: Id, name: Type.String(), status: Status }
const datedFields = { createdAt: Instant, updatedAt: Instant }

export const Campaign = Named('Campaign', {
  id: Id,
  name: Type.String(),
  userId: Type.String({ description: 'Id of the user who owns the campaign.' }),
  status: Status,
  trafficSourceId: Nullable(Id),
  trafficSourceName: NullableText('Current name of the traffic source; null for an unknown id.'),
  costModel: NullableText('Cost model, for example cpc.'),
  costValue: Nullable(Money),
  currency: Nullable(Currency),
  tags: texts('Tags that you define.'),
  ...datedFields,
})
export type Campaign = Static<typeof Campaign>

export const Offer = Named('Offer', {
  ...namedFields,
  url: NullableText('URL.'),
  affiliateNetwork: NullableText('Affiliate network of the offer.'),
  payoutType: NullableText('Payout model, for example cpa.'),
  payout: Nullable(Money),
  currency: Nullable(Currency),
  countries: texts('Country codes, ISO 3166-1 alpha-2; an empty list means all countries.'),
  tags: texts('Tags that you define.'),
  ...datedFields,
})
export type Offer = Static<typeof Offer>

export const LandingPage = Named('LandingPage', {
  ...namedFields,
  url: NullableText('URL.'),
  tags: texts('Tags that you define.'),
  ...datedFields,
})
export type LandingPage = Static<typeof LandingPage>

export const TrafficSource = Named('TrafficSource', {
  ...namedFields,
  category: NullableText('Category, for example social.'),
  costModel: NullableText('Cost model, for example cpc.'),
  currency: Nullable(Currency),
  ...datedFields,
})
export type TrafficSource = Static<typeof TrafficSource>

/** Query of a metadata list. @param row schema of its rows */
export function MetadataQuery(row: TObject) {
  return Type.Object({
    ...pageParameters,
    ...formatParameter(listFormats),
    ...fieldsParameter(row),
    ...optional({ status: OneOf(metadataStatuses, { description: 'Only rows with this status.' }) }),
  })
}
export type MetadataQuery = Static<ReturnType<typeof MetadataQuery>>
