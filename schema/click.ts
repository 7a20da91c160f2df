import { type Static, Type } from '@sinclair/typebox'
import { exportedDimensions } from './fields.ts'
import { devices, filterParameters, filterParametersOf, filterTreeParameter, namesInTree } from './filters.ts'
import { listParameters, OrderedPage, retainedFrom } from './page.ts'
import {
  Currency,
  described,
  Id,
  Instant,
  Money,
  Named,
  Nullable,
  NullableOneOf,
  NullableText,
  optional,
} from './scalars.ts'
import { type SubIdName, subIdNames } from './subIds.ts'

/** Ids and names of the entities that clicks and conversions share; a name is null when its id is unknown. */
const entityFields = {
  campaignId: Nullable(Id),
  campaignName: NullableText('Current name of the campaign; null for an unknown id.'),
  offerId: Nullable(Id),
  offerName: NullableText('Current name of the offer; null for an unknown id.'),
  landingPageId: Nullable(Id),
  landingPageName: NullableText('Current name of the landing page; null for an unknown id.'),
  trafficSourceId: Nullable(Id),
  trafficSourceName: NullableText('Current name of the traffic source; null for an unknown id.'),
}

/** Up to ten tracking parameters that the customer defines; absent ones are null. The static type has all of them. */
const SubIds = Type.Unsafe<Record<SubIdName, string | null>>(
  Type.Object(optional(Object.fromEntries(subIdNames.map((name) => [name, Nullable(Type.String())]))), {
    $id: 'SubIds',
    description:
      'Your tracking parameters `sub1` to `sub10`, or only the ones that `fields` names. An absent parameter is null.',
  }),
)

/** Fields that conversions and costs have too. */
export const sharedFields = {
  ...entityFields,
  country: NullableText('Country code, ISO 3166-1 alpha-2.'),
  device: NullableOneOf(devices),
  os: NullableText('Operating system.'),
  browser: NullableText('Browser.'),
  subIds: SubIds,
}

/** When Tributary stored the row. */
export const storedAt = described(
  Instant,
  'When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.',
)

export const Click = Named('Click', {
  id: Id,
  clickedAt: Instant,
  ...entityFields,
  visitorId: Nullable(Id),
  country: NullableText('Country code, ISO 3166-1 alpha-2.'),
  region: NullableText('As sent by the tracker.'),
  city: NullableText('As sent by the tracker.'),
  device: NullableOneOf(devices),
  os: NullableText('Operating system.'),
  osVersion: NullableText('Version of the operating system.'),
  browser: NullableText('Browser.'),
  browserVersion: NullableText('Version of the browser.'),
  language: NullableText('`Accept-Language` header, as sent by the browser.'),
  referrer: NullableText('URL of the page that linked to the click URL.'),
  userAgent: NullableText('`User-Agent` header, as sent by the browser.'),
  ip: NullableText('IP address with the last octet (IPv4) or the last 80 bits (IPv6) set to zero.'),
  subIds: SubIds,
  externalClickId: NullableText('Click id of the traffic source, for example a gclid.'),
  utmSource: NullableText('utm_source'),
  utmMedium: NullableText('utm_medium'),
  utmCampaign: NullableText('utm_campaign'),
  utmTerm: NullableText('utm_term'),
  utmContent: NullableText('utm_content'),
  cost: Nullable(Money),
  currency: Nullable(Currency),
  costBase: Nullable(Type.Number({ description: '`cost` in `baseCurrency`, at the rate imported with the click.' })),
  baseCurrency: Type.String({ description: 'Currency of the account.' }),
  isBot: Type.Boolean({ description: 'Click of a bot: listed here, excluded from stats and reports.' }),
  isTest: Type.Boolean({ description: 'Test click: listed here, excluded from stats and reports.' }),
  converted: Type.Boolean({ description: 'Whether `conversionCount` is above 0.' }),
  conversionCount: Type.Integer({
    description: 'Number of conversions of this click, of any status, without tests.',
  }),
  storedAt,
})
export type Click = Static<typeof Click>

export const ClickPage = Type.Object({ ...OrderedPage(Click).properties, ...retainedFrom })

export const ClickQuery = Type.Object({
  ...listParameters(Click, exportedDimensions.clicks),
  ...filterParameters,
  ...filterParametersOf(['visitor_id'], 'clicks'),
  ...filterTreeParameter(namesInTree.clicks),
  ...optional({
    is_bot: Type.Boolean({ description: '`true`: only clicks of bots. `false`: only other clicks. Default: both.' }),
    is_test: Type.Boolean({ description: '`true`: only test clicks. `false`: only other clicks. Default: both.' }),
    converted: Type.Boolean({
      description:
        '`true`: only clicks with at least one conversion that is not a test. `false`: only clicks without one.',
    }),
  }),
})
export type ClickQuery = Static<typeof ClickQuery>
