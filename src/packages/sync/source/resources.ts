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

/** Fields of rows that are objects, computed at read or looked up. */
type Uncopied = 'subIds' | 'converted' | 'conversionCount' | `${Entity}Name`
type Entity = 'campaign' | 'offer' | 'landingPage' | 'trafficSource'

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

/** The fields of columns as `typesIn` takes them. */
type FieldIn<Columns extends string> = Columns extends `${infer Column}, ${infer Others}`
  ? FieldIn<Column> | FieldIn<Others>
  : Columns extends `${infer Field} ${string}`
    ? Field
    : Columns

/** @param lines columns by the names of their fields: `id text NOT NULL, country`; a column without a type is a text */
function typesIn<const Lines extends readonly string[]>(...lines: Lines) {
  const columns = lines.flatMap((line) => line.split(', ')).map((column) => column.split(/ (.*)/))
  const fields = Object.fromEntries(columns.map(([field, type = 'text']) => [field, type]))
  return fields as Readonly<Record<FieldIn<Lines[number]>, string>>
}

const entityIds = 'campaignId, offerId, landingPageId, trafficSourceId'
const utm = 'utmSource, utmMedium, utmCampaign, utmTerm, utmContent'
const subIds = 'sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10'
export const subIdNames: ReadonlySet<string> = new Set(subIds.split(', '))

const defaults = { key: ['id'], query: {}, overlapMs: 0 } as const

const clicks: ChangingResource = {
  ...defaults,
  name: 'clicks',
  path: '/clicks',
  time: 'clickedAt',
  amount: 'costBase',
  fields: typesIn(
    `id text NOT NULL, clickedAt timestamptz NOT NULL, ${entityIds}, visitorId, country, region, city, device`,
    `os, osVersion, browser, browserVersion, language, referrer, userAgent, ip, ${subIds}, externalClickId, ${utm}`,
    'cost numeric(18,6), currency, costBase numeric(18,6), baseCurrency, isBot boolean NOT NULL',
    'isTest boolean NOT NULL, storedAt timestamptz NOT NULL, languageTag, referrerDomain',
  ) satisfies FieldsOf<'/clicks'>,
  indexes: ['clicked_at', 'campaign_id, clicked_at', 'visitor_id'],
}

const conversions: ChangingResource = {
  ...defaults,
  name: 'conversions',
  path: '/conversions',
  query: { include_test_mode: true },
  time: 'convertedAt',
  amount: 'revenueBase',
  fields: typesIn(
    'id text NOT NULL, source, status, externalStatus, eventName, convertedAt timestamptz NOT NULL',
    'clickedAt timestamptz, createdAt timestamptz, updatedAt timestamptz, clickId, visitorId, transactionId',
    `${entityIds}, country, device, os, browser, ${subIds}, payout numeric(18,6), revenue numeric(18,6)`,
    'currency, revenueBase numeric(18,6), baseCurrency, couponCode, isTest boolean NOT NULL',
    `storedAt timestamptz NOT NULL, region, city, osVersion, browserVersion, languageTag, referrerDomain, ${utm}`,
  ) satisfies FieldsOf<'/conversions'>,
  indexes: ['converted_at', 'campaign_id, converted_at', 'click_id'],
}

const costs: ChangingResource = {
  ...defaults,
  name: 'costs',
  path: '/costs',
  time: 'spentAt',
  amount: 'costBase',
  fields: typesIn(
    `id text NOT NULL, spentAt timestamptz NOT NULL, updatedAt timestamptz, ${entityIds}, country, device, os, browser`,
    `${subIds}, cost numeric(18,6), currency, costBase numeric(18,6), baseCurrency, storedAt timestamptz NOT NULL`,
  ) satisfies FieldsOf<'/costs'>,
  indexes: ['spent_at', 'campaign_id, spent_at'],
}

export const events: ChangingResource = {
  ...defaults,
  name: 'events',
  path: '/events',
  key: ['origin', 'id', 'generation'],
  time: 'occurredAt',
  // Their `storedAt` is the clock of the event store, which may be set back.
  overlapMs: 60_000,
  fields: typesIn(
    'id text NOT NULL, origin text NOT NULL, generation bigint NOT NULL, eventName text NOT NULL, clickId, visitorId',
    'campaignId, userId, value double precision, currency, properties json, occurredAt timestamptz NOT NULL',
    'receivedAt timestamptz, storedAt timestamptz NOT NULL',
  ) satisfies FieldsOf<'/events'>,
  indexes: ['occurred_at', 'event_name, occurred_at', 'click_id', 'visitor_id'],
}

/** @param fields besides id, name, status and times */
function entityOf<Path extends ExportPath>(
  path: Path,
  fields: Omit<FieldsOf<Path>, 'id' | 'name' | 'status' | 'createdAt' | 'updatedAt'>,
): Resource {
  const first = typesIn('id text NOT NULL, name text NOT NULL, status')
  const all = { ...first, ...fields, ...typesIn('createdAt timestamptz, updatedAt timestamptz') }
  return { name: path.slice(1).replace('-', '_'), path, key: ['id'], fields: all, indexes: [] }
}

/** Metadata: few rows, read in full by each run. */
export const metadata: readonly Resource[] = [
  entityOf('/campaigns', typesIn('userId, trafficSourceId, costModel, costValue numeric(18,6), currency, tags text[]')),
  entityOf(
    '/offers',
    typesIn('url, affiliateNetwork, payoutType, payout numeric(18,6), currency, countries text[], tags text[]'),
  ),
  entityOf('/landing-pages', typesIn('url, tags text[]')),
  entityOf('/traffic-sources', typesIn('category, costModel, currency')),
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
