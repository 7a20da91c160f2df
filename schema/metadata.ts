import { type Static, Type } from '@sinclair/typebox'
import { Page, pageParameters } from './page.ts'
import { Currency, Id, Instant, Money, Nullable } from './scalars.ts'

/** The tables whose rows have a name that other rows show. */
export const namedTables = ['campaigns', 'offers', 'landing_pages', 'traffic_sources'] as const
export type NamedTable = (typeof namedTables)[number]

export const metadataStatuses = ['active', 'paused', 'archived'] as const

const Status = Type.Union(metadataStatuses.map((status) => Type.Literal(status)))
const text = (description: string) => Nullable(Type.String({ description }))
const texts = (description: string) => Type.Array(Type.String(), { description })
const namedFields = { id: Id, name: Type.String(), status: Status }
const datedFields = { createdAt: Instant, updatedAt: Instant }

export const Campaign = Type.Object(
  {
    id: Id,
    name: Type.String(),
    userId: Type.String({ description: 'Who owns it.' }),
    status: Status,
    trafficSourceId: Nullable(Id),
    trafficSourceName: text('Name of the traffic source now; null for an unknown id.'),
    costModel: text('Such as cpc.'),
    costValue: Nullable(Money),
    currency: Nullable(Currency),
    tags: texts('The customer’s own.'),
    ...datedFields,
  },
  { $id: 'Campaign' },
)
export type Campaign = Static<typeof Campaign>

export const Offer = Type.Object(
  {
    ...namedFields,
    url: text('Where it is.'),
    affiliateNetwork: text('Who it comes from.'),
    payoutType: text('Such as cpa.'),
    payout: Nullable(Money),
    currency: Nullable(Currency),
    countries: texts('ISO 3166-1 alpha-2; empty: everywhere.'),
    tags: texts('The customer’s own.'),
    ...datedFields,
  },
  { $id: 'Offer' },
)
export type Offer = Static<typeof Offer>

export const LandingPage = Type.Object(
  { ...namedFields, url: text('Where it is.'), tags: texts('The customer’s own.'), ...datedFields },
  { $id: 'LandingPage' },
)
export type LandingPage = Static<typeof LandingPage>

export const TrafficSource = Type.Object(
  {
    ...namedFields,
    category: text('Such as social.'),
    costModel: text('Such as cpc.'),
    currency: Nullable(Currency),
    ...datedFields,
  },
  { $id: 'TrafficSource' },
)
export type TrafficSource = Static<typeof TrafficSource>

export const MetadataQuery = Type.Object(
  {
    ...pageParameters,
    status: Type.Optional(
      Type.Union(
        metadataStatuses.map((status) => Type.Literal(status)),
        { description: 'Only rows in this state.' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type MetadataQuery = Static<typeof MetadataQuery>

/** The path of a single item. */
export const ItemPath = Type.Object({ id: Id })

export const CampaignPage = Page(Campaign)
export const OfferPage = Page(Offer)
export const LandingPagePage = Page(LandingPage)
export const TrafficSourcePage = Page(TrafficSource)
