import type { ExportPath } from 'tributary-client'

/** A resource that is copied: its list in the API and its table in the copy. */
export interface Resource {
  name: string
  path: ExportPath
  /** SQL type of each stored field, by its name in the API; sub-ids by their own names. */
  fields: Readonly<Record<string, string>>
  /** Indexes, as lists of columns. */
  indexes: readonly string[]
}

/** Rows that change over time and are read by `storedAt`. */
export interface ChangingResource extends Resource {
  path: '/clicks' | '/conversions'
  /** Parameters without which rows would be missing. */
  query: Readonly<Record<string, boolean>>
  /** Field and column of the time that a row belongs to. */
  timeColumn: string
  /** The amount of the checksums, and its column. */
  amount: 'costBase' | 'revenueBase'
  amountColumn: string
}

const text = 'text'
const id = 'text PRIMARY KEY'
const time = 'timestamptz'
const money = 'numeric(18, 6)'
const flag = 'boolean NOT NULL'
const subIds = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`sub${n + 1}`, text]))
const entityIds = { campaignId: text, offerId: text, landingPageId: text, trafficSourceId: text }

const clicks: ChangingResource = {
  name: 'clicks',
  path: '/clicks',
  query: {},
  timeColumn: 'clicked_at',
  amount: 'costBase',
  amountColumn: 'cost_base',
  fields: {
    ...{ id, clickedAt: `${time} NOT NULL`, ...entityIds, visitorId: text, country: text, region: text, city: text },
    ...{ device: text, os: text, osVersion: text, browser: text, browserVersion: text, language: text, referrer: text },
    ...{
      userAgent: text,
      ip: text,
      ...subIds,
      externalClickId: text,
      utmSource: text,
      utmMedium: text,
      utmCampaign: text,
    },
    ...{ utmTerm: text, utmContent: text, cost: money, currency: text, costBase: money, baseCurrency: text },
    ...{ isBot: flag, isTest: flag, storedAt: `${time} NOT NULL` },
  },
  indexes: ['clicked_at', 'campaign_id, clicked_at', 'visitor_id'],
}

const conversions: ChangingResource = {
  name: 'conversions',
  path: '/conversions',
  query: { include_test_mode: true },
  timeColumn: 'converted_at',
  amount: 'revenueBase',
  amountColumn: 'revenue_base',
  fields: {
    ...{ id, source: text, status: text, externalStatus: text, eventName: text, convertedAt: `${time} NOT NULL` },
    ...{ clickedAt: time, createdAt: time, updatedAt: time, clickId: text, visitorId: text, transactionId: text },
    ...{ ...entityIds, country: text, device: text, os: text, browser: text, ...subIds, payout: money, revenue: money },
    ...{ currency: text, revenueBase: money, baseCurrency: text, couponCode: text, isTest: flag },
    ...{ storedAt: `${time} NOT NULL` },
  },
  indexes: ['converted_at', 'campaign_id, converted_at', 'click_id'],
}

const named = { id, name: `${text} NOT NULL` }
const dated = { createdAt: time, updatedAt: time }

/** Metadata: few rows, read in full by each run. */
export const metadata: readonly Resource[] = [
  {
    name: 'campaigns',
    path: '/campaigns',
    fields: {
      ...{ ...named, userId: text, status: text, trafficSourceId: text, costModel: text, costValue: money },
      ...{ currency: text, tags: 'text[]', ...dated },
    },
    indexes: [],
  },
  {
    name: 'offers',
    path: '/offers',
    fields: {
      ...{ ...named, status: text, url: text, affiliateNetwork: text, payoutType: text, payout: money, currency: text },
      ...{ countries: 'text[]', tags: 'text[]', ...dated },
    },
    indexes: [],
  },
  {
    name: 'landing_pages',
    path: '/landing-pages',
    fields: { ...named, status: text, url: text, tags: 'text[]', ...dated },
    indexes: [],
  },
  {
    name: 'traffic_sources',
    path: '/traffic-sources',
    fields: { ...named, status: text, category: text, costModel: text, currency: text, ...dated },
    indexes: [],
  },
]

export const changing: readonly ChangingResource[] = [clicks, conversions]

/** @returns the column of a field: `campaignId` is `campaign_id` */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
