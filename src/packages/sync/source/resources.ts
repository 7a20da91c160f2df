import type { ExportPath, FieldOf } from 'tributary-client'

/** A resource that is copied: its list in the API and its table in the copy. */
export interface Resource {
  name: string
  path: ExportPath
  /** Fields that identify a row, in the order of the hash of checksums. */
  key: readonly string[]
  /** SQL type of each stored field, by its name in the API; sub-ids by their own names. */
  fields: Readonly<Record<string, string>>
  /** Indexes, as lists of columns. */
  indexes: readonly string[]
}

/** Names that are looked up, and what is computed at read. */
type Uncopied =
  | ('campaignName' | 'offerName' | 'landingPageName' | 'trafficSourceName' | 'converted' | 'conversionCount')
  | 'subIds'

/** Types of all fields of a row of the API: without a new field this does not compile, so no copy lacks a column. */
type FieldsOf<Path extends ExportPath> = Readonly<Record<Exclude<FieldOf<Path>, Uncopied>, string>>

/** Rows that change over time and are read by `storedAt`. */
export interface ChangingResource extends Resource {
  path: '/clicks' | '/conversions' | '/costs' | '/events'
  /** Parameters without which rows would be missing. */
  query: Readonly<Record<string, boolean>>
  /** Field of the time that a row belongs to. */
  time: 'clickedAt' | 'convertedAt' | 'spentAt' | 'occurredAt'
  /** The amount of the checksums; events have none. */
  amount?: 'costBase' | 'revenueBase'
  /** How much of the last pass the next one reads again. */
  overlapMs: number
}

type SubId = Extract<FieldOf<'/clicks'>, `sub${number}`>

const text = 'text'
const id = 'text NOT NULL'
const time = 'timestamptz'
const money = 'numeric(18, 6)'
const flag = 'boolean NOT NULL'
const subIds = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`sub${n + 1}`, text])) as Record<SubId, 'text'>
export const subIdNames: ReadonlySet<string> = new Set(Object.keys(subIds))
const dimensions = { languageTag: text, referrerDomain: text }
const entityIds = { campaignId: text, offerId: text, landingPageId: text, trafficSourceId: text }

const clicks: ChangingResource = {
  name: 'clicks',
  path: '/clicks',
  key: ['id'],
  query: {},
  time: 'clickedAt',
  amount: 'costBase',
  overlapMs: 0,
  fields: {
    ...{ id, clickedAt: `${time} NOT NULL`, ...entityIds, visitorId: text, country: text, region: text, city: text },
    ...{ device: text, os: text, osVersion: text, browser: text, browserVersion: text, language: text, referrer: text },
    ...{ userAgent: text, ip: text, ...subIds, externalClickId: text },
    ...{ utmSource: text, utmMedium: text, utmCampaign: text, utmTerm: text, utmContent: text, cost: money },
    ...{ currency: text, costBase: money, baseCurrency: text, isBot: flag, isTest: flag, storedAt: `${time} NOT NULL` },
    ...dimensions,
  } satisfies FieldsOf<'/clicks'>,
  indexes: ['clicked_at', 'campaign_id, clicked_at', 'visitor_id'],
}

const conversions: ChangingResource = {
  name: 'conversions',
  path: '/conversions',
  key: ['id'],
  query: { include_test_mode: true },
  time: 'convertedAt',
  amount: 'revenueBase',
  overlapMs: 0,
  fields: {
    ...{ id, source: text, status: text, externalStatus: text, eventName: text, convertedAt: `${time} NOT NULL` },
    ...{ clickedAt: time, createdAt: time, updatedAt: time, clickId: text, visitorId: text, transactionId: text },
    ...{ ...entityIds, country: text, device: text, os: text, browser: text, ...subIds, payout: money, revenue: money },
    ...{ currency: text, revenueBase: money, baseCurrency: text, couponCode: text, isTest: flag },
    ...{ storedAt: `${time} NOT NULL`, region: text, city: text, osVersion: text, browserVersion: text, ...dimensions },
    ...{ utmSource: text, utmMedium: text, utmCampaign: text, utmTerm: text, utmContent: text },
  } satisfies FieldsOf<'/conversions'>,
  indexes: ['converted_at', 'campaign_id, converted_at', 'click_id'],
}

const costs: ChangingResource = {
  name: 'costs',
  path: '/costs',
  key: ['id'],
  query: {},
  time: 'spentAt',
  amount: 'costBase',
  overlapMs: 0,
  fields: {
    ...{ id, spentAt: `${time} NOT NULL`, updatedAt: time, ...entityIds, country: text, device: text, os: text },
    ...{ browser: text, ...subIds, cost: money, currency: text, costBase: money, baseCurrency: text },
    ...{ storedAt: `${time} NOT NULL` },
  } satisfies FieldsOf<'/costs'>,
  indexes: ['spent_at', 'campaign_id, spent_at'],
}

export const events: ChangingResource = {
  name: 'events',
  path: '/events',
  key: ['origin', 'id', 'generation'],
  query: {},
  time: 'occurredAt',
  // Their `storedAt` is the clock of the event store, which may be set back.
  overlapMs: 60_000,
  fields: {
    ...{ id, origin: `${text} NOT NULL`, generation: 'bigint NOT NULL', eventName: `${text} NOT NULL` },
    ...{ clickId: text, visitorId: text, campaignId: text, userId: text, value: 'double precision' },
    ...{ currency: text, properties: 'json', occurredAt: `${time} NOT NULL`, receivedAt: time },
    ...{ storedAt: `${time} NOT NULL` },
  } satisfies FieldsOf<'/events'>,
  indexes: ['occurred_at', 'event_name, occurred_at', 'click_id', 'visitor_id'],
}

/** @param fields besides id, name and times */
function metadataOf<Path extends ExportPath>(
  path: Path,
  fields: Omit<FieldsOf<Path>, 'id' | 'name' | 'status' | 'createdAt' | 'updatedAt'>,
): Resource {
  const name = path.slice(1).replace('-', '_')
  const all = { id, name: `${text} NOT NULL`, status: text, ...fields, createdAt: time, updatedAt: time }
  return { name, path, key: ['id'], fields: all, indexes: [] }
}

/** Metadata: few rows, read in full by each run. */
export const metadata: readonly Resource[] = [
  metadataOf('/campaigns', {
    ...{ userId: text, trafficSourceId: text, costModel: text, costValue: money, currency: text, tags: 'text[]' },
  }),
  metadataOf('/offers', {
    ...{ url: text, affiliateNetwork: text, payoutType: text, payout: money, currency: text },
    ...{ countries: 'text[]', tags: 'text[]' },
  }),
  metadataOf('/landing-pages', { url: text, tags: 'text[]' }),
  metadataOf('/traffic-sources', { category: text, costModel: text, currency: text }),
]

export const changing: readonly ChangingResource[] = [clicks, conversions, costs, events]

/** @returns the column of a field: `campaignId` is `campaign_id` */
export function columnNameOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** @returns the stored fields by their names in the API; the sub-ids are one field */
export function exportedFields({ fields }: ChangingResource): FieldOf<ChangingResource['path']>[] {
  const names = new Set(Object.keys(fields).map((field) => (subIdNames.has(field) ? 'subIds' : field)))
  // The type has the fields that all resources have.
  return [...names] as FieldOf<ChangingResource['path']>[]
}
