import { type Static, Type } from '@sinclair/typebox'
import { OrderedPage, pageParameters } from './page.ts'
import { orderParameters, rangeParameters } from './range.ts'
import { formatParameter, listFormats } from './rowFormat.ts'
import { Currency, Id, Instant, Money, Nullable } from './scalars.ts'

export const devices = ['desktop', 'mobile', 'tablet', 'other'] as const

const text = (description: string) => Nullable(Type.String({ description }))

/** The pairs of id and name that clicks and conversions share; a name is null when the id is unknown. */
export const entityFields = {
  campaignId: Nullable(Id),
  campaignName: text('Name of the campaign now.'),
  offerId: Nullable(Id),
  offerName: text('Name of the offer now.'),
  landingPageId: Nullable(Id),
  landingPageName: text('Name of the landing page now.'),
  trafficSourceId: Nullable(Id),
  trafficSourceName: text('Name of the traffic source now.'),
}

export const subIdNames = ['sub1', 'sub2', 'sub3', 'sub4', 'sub5', 'sub6', 'sub7', 'sub8', 'sub9', 'sub10'] as const
export type SubIdName = (typeof subIdNames)[number]

/** Stored sub-ids of a row without any. */
export const blankSubIds = Object.fromEntries(subIdNames.map((name) => [name, ''])) as Record<SubIdName, string>

/** Up to ten tracking parameters of the customer's own; those that were not given are null. */
export const SubIds = Type.Object(
  Object.fromEntries(subIdNames.map((name) => [name, Type.Unsafe<string | null>({ type: ['string', 'null'] })])),
  { description: 'Tracking parameters `sub1` to `sub10`.' },
)

/** When our store took the row. */
export const storedAt = Type.String({
  ...Instant,
  description: 'When our store took the row, or the version of it that this is; what `updated_since` goes by.',
})

export const Click = Type.Object(
  {
    id: Id,
    clickedAt: Instant,
    ...entityFields,
    visitorId: Nullable(Id),
    country: text('ISO 3166-1 alpha-2.'),
    region: text('As the tracker sent it.'),
    city: text('As the tracker sent it.'),
    device: Type.Unsafe<(typeof devices)[number] | null>({ type: ['string', 'null'], enum: [...devices, null] }),
    os: text('Operating system.'),
    osVersion: text('Its version.'),
    browser: text('Browser.'),
    browserVersion: text('Its version.'),
    language: text('Accept-Language, as sent.'),
    referrer: text('Page that the click came from.'),
    userAgent: text('User-Agent, as sent.'),
    ip: text('Last octet (IPv4) or last 80 bits (IPv6) zeroed.'),
    subIds: SubIds,
    externalClickId: text('Click id of the traffic source, such as a gclid.'),
    utmSource: text('utm_source'),
    utmMedium: text('utm_medium'),
    utmCampaign: text('utm_campaign'),
    utmTerm: text('utm_term'),
    utmContent: text('utm_content'),
    cost: Nullable(Money),
    currency: Nullable(Currency),
    costBase: Nullable(Type.Number({ description: 'cost in baseCurrency, at the rate given with it.' })),
    baseCurrency: Type.String({ description: 'Currency of the account.' }),
    isBot: Type.Boolean({ description: 'Listed here, counted nowhere.' }),
    isTest: Type.Boolean({ description: 'Listed here, counted nowhere.' }),
    converted: Type.Boolean({ description: 'Whether conversionCount is above 0.' }),
    conversionCount: Type.Integer({ description: 'Conversions of this click that are no tests, of any status, now.' }),
    storedAt,
  },
  { $id: 'Click' },
)
export type Click = Static<typeof Click>

export const ClickPage = OrderedPage(Click)

export const ClickQuery = Type.Object(
  {
    ...pageParameters,
    ...rangeParameters,
    ...orderParameters,
    ...formatParameter(listFormats),
    campaign_id: Type.Optional(Type.String({ ...Id, description: 'Only clicks of this campaign.' })),
    offer_id: Type.Optional(Type.String({ ...Id, description: 'Only clicks of this offer.' })),
    converted: Type.Optional(
      Type.Boolean({
        description: '`true`: only clicks with a conversion that is no test; `false`: only those without.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ClickQuery = Static<typeof ClickQuery>
