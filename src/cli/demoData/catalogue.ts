import type { Audience } from './devices.ts'
import type { Shares } from './draws.ts'
import type { Market } from './locations.ts'
import campaignsTable from './tables/campaigns.json' with { type: 'json' }
import landingPagesTable from './tables/landingPages.json' with { type: 'json' }
import offersTable from './tables/offers.json' with { type: 'json' }
import sourcesTable from './tables/sources.json' with { type: 'json' }

// The tables are JSON. TypeScript knows the ids of JSON but not its literal values, so each table is cast to its type once.

export type SourceId = keyof typeof sourcesTable
export type OfferId = keyof typeof offersTable
export type LandingPageId = keyof typeof landingPagesTable
export type CampaignId = keyof typeof campaignsTable

/** A traffic source; `clickIdStart` is the prefix of the click ids that the source assigns. */
export interface DemoSource {
  name: string
  category: string
  costModel: 'cpc' | 'cpm' | 'revshare' | null
  currency: 'USD' | 'EUR'
  audience: Audience
  /** Referrers of clicks; null: the browser sends none. */
  referrers: Shares<string | null>
  clickIdStart: string | null
  utm: readonly [source: string, medium: string]
}

/** An advertised offer. Networks report conversions by postback (`cpa`), own shops by their payment provider (`revenue`). */
export interface Offer {
  name: string
  network: string | null
  kind: 'lead' | 'install' | 'order' | 'subscription'
  /** The payout of a lead or install, or the average amount of an order; in `currency`. */
  amount: number
  currency: 'USD' | 'EUR'
  countries: readonly string[]
  tags: readonly string[]
  coupons?: Shares<string>
}

/** The days on which a campaign runs, counted from 1970-01-01 UTC: the first `onDays` of every `everyDays`; 0 is Sunday. */
type Schedule =
  | { kind: 'always' }
  | { kind: 'flights'; everyDays: number; onDays: number; start: number }
  | { kind: 'weekdays'; days: readonly number[] }

export interface Campaign {
  name: string
  source: SourceId
  market: Market
  /** Pairs of offer and landing page; without a page the click leads to the offer. Empty: the visitor's earlier pair. */
  paths: Shares<readonly [OfferId, LandingPageId | null]>
  schedule: Schedule
  /** Its clicks on an average day, relative to other campaigns. */
  share: number
  /** Average cost of a click in the currency of its source; null where clicks are free. */
  costPerClick: number | null
  /** Share of human clicks that convert on an average page, 0 to 1. */
  conversionRate: number
  weekend: number
  /** Sine wave of its clicks: period in days, and amplitude as a share of its size. */
  waveDays: number
  waveBy: number
  creatives: readonly string[]
  tags: readonly string[]
}

export const sources = sourcesTable as unknown as Readonly<Record<SourceId, DemoSource>>
export const offers = offersTable as unknown as Readonly<Record<OfferId, Offer>>
/** Only pages with the pixel have funnels; `lift` multiplies conversions. */
export const landingPages = landingPagesTable
export const campaigns = campaignsTable as unknown as Readonly<Record<CampaignId, Campaign>>
