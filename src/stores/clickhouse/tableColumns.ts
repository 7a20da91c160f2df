import { subIdNames } from '../../../schema/subIds.ts'
import type { ColumnKind, RowOf } from './columnKinds.ts'
import { ch } from './sql.ts'

/** Fields of the kind `text`. */
export function texts<Name extends string>(...names: readonly Name[]): Record<Name, 'text'> {
  return Object.fromEntries(names.map((name) => [name, 'text'])) as Record<Name, 'text'>
}

export const entityIdFields = texts('campaignId', 'offerId', 'landingPageId', 'trafficSourceId')

export const subIdFields = texts(...subIdNames)

/** The fields of a click that imports read and the API returns, in the order of the API, with the kind of each column. */
export const clickFields = {
  id: 'id',
  clickedAt: 'instant',
  ...entityIdFields,
  ...texts('visitorId', 'country', 'region', 'city'),
  ...texts('device', 'os', 'osVersion', 'browser', 'browserVersion', 'language', 'referrer', 'userAgent'),
  /** Anonymised: the last octet (IPv4) or the last 80 bits (IPv6) are zero. */
  ip: 'text',
  ...subIdFields,
  ...texts('externalClickId', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'),
  /** In `currency`. */
  cost: 'moneyOrNull',
  currency: 'text',
  /** In the account's currency. */
  costBase: 'moneyOrNull',
  isBot: 'flag',
  isTest: 'flag',
} as const satisfies Record<string, ColumnKind>

/** The fields of conversions and costs by which facts are grouped. */
const dimensionFields = {
  ...entityIdFields,
  ...texts('country', 'device', 'os', 'browser'),
  ...subIdFields,
} as const satisfies Record<string, ColumnKind>

/** The fields of a conversion that imports read and the API returns, in the order of the API, with the kind of each column. */
export const conversionFields = {
  id: 'id',
  source: 'word',
  status: 'word',
  ...texts('externalStatus', 'eventName'),
  convertedAt: 'instant',
  /** As imported, or copied from the click. */
  clickedAt: 'instantOrNull',
  createdAt: 'instant',
  updatedAt: 'instant',
  ...texts('clickId', 'visitorId', 'transactionId'),
  ...dimensionFields,
  /** In `currency`. */
  payout: 'moneyOrNull',
  /** In `currency`. */
  revenue: 'moneyOrNull',
  currency: 'text',
  /** In the account's currency. */
  revenueBase: 'moneyOrNull',
  couponCode: 'text',
  isTest: 'flag',
} as const satisfies Record<string, ColumnKind>

/** The fields of a cost that imports read and the API returns, in the order of the API, with the kind of each column. */
export const costFields = {
  id: 'id',
  spentAt: 'instant',
  /** As imported, or the start of the import. */
  updatedAt: 'instant',
  ...dimensionFields,
  /** In `currency`; never absent. */
  cost: 'moneyOrNull',
  currency: 'text',
  /** In the account's currency; never absent. */
  costBase: 'moneyOrNull',
} as const satisfies Record<string, ColumnKind>

/** The fields of a pixel event that imports and `POST /events` write and the API returns, in the order of responses. */
export const pixelEventFields = {
  id: 'id',
  origin: 'word',
  generation: 'uint32',
  eventName: 'id',
  ...texts('clickId', 'visitorId', 'campaignId', 'userId'),
  value: 'floatOrNull',
  currency: 'text',
  /** JSON of an object, or empty. */
  properties: 'text',
  occurredAt: 'instant',
  receivedAt: 'instant',
} as const satisfies Record<string, ColumnKind>

/** The time of a row, by table: sort keys, partitions and ranges of requests are by it. */
export const timeColumns = {
  clicks: ch`clicked_at`,
  conversions: ch`converted_at`,
  costs: ch`spent_at`,
  pixel_events: ch`occurred_at`,
}

/** The fields of a row as ClickHouse returns them: instants as epoch milliseconds, amounts as decimal text. */
export type Selected<Of extends Record<string, ColumnKind>> = {
  [Name in keyof Of]: Of[Name] extends 'moneyOrNull' ? string | null : RowOf<Pick<Of, Name>>[Name]
}
