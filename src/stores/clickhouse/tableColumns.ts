import { type SubIdName, subIdNames } from '../../../schema/subIds.ts'
import type { ColumnKind, RowOf } from './columnKinds.ts'
import { ch } from './sql.ts'

export const entityIdFields = {
  campaignId: 'text',
  offerId: 'text',
  landingPageId: 'text',
  trafficSourceId: 'text',
} as const satisfies Record<string, ColumnKind>

export const subIdFields = Object.fromEntries(subIdNames.map((name) => [name, 'text'])) as Record<SubIdName, 'text'>

/** The fields of a click that imports read and the API returns, in the order of the API, with the kind of each column. */
export const clickFields = {
  id: 'id',
  clickedAt: 'instant',
  ...entityIdFields,
  visitorId: 'text',
  country: 'text',
  region: 'text',
  city: 'text',
  device: 'text',
  os: 'text',
  osVersion: 'text',
  browser: 'text',
  browserVersion: 'text',
  language: 'text',
  referrer: 'text',
  userAgent: 'text',
  /** Anonymised: the last octet (IPv4) or the last 80 bits (IPv6) are zero. */
  ip: 'text',
  ...subIdFields,
  externalClickId: 'text',
  utmSource: 'text',
  utmMedium: 'text',
  utmCampaign: 'text',
  utmTerm: 'text',
  utmContent: 'text',
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
  country: 'text',
  device: 'text',
  os: 'text',
  browser: 'text',
  ...subIdFields,
} as const satisfies Record<string, ColumnKind>

/** The fields of a conversion that imports read and the API returns, in the order of the API, with the kind of each column. */
export const conversionFields = {
  id: 'id',
  source: 'word',
  status: 'word',
  externalStatus: 'text',
  eventName: 'text',
  convertedAt: 'instant',
  /** As imported, or copied from the click. */
  clickedAt: 'instantOrNull',
  createdAt: 'instant',
  updatedAt: 'instant',
  clickId: 'text',
  visitorId: 'text',
  transactionId: 'text',
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
  clickId: 'text',
  visitorId: 'text',
  campaignId: 'text',
  userId: 'text',
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
