import { type SubIdName, subIdNames } from '../../../schema/click.ts'
import { type Column, columnsOf } from '../../stores/clickhouse/columns.ts'

/** A click as it is stored: absent text is empty, absent amounts are null, times are epoch milliseconds UTC. */
export interface Click extends Record<SubIdName, string> {
  accountId: string
  id: string
  clickedAt: number
  campaignId: string
  offerId: string
  landingPageId: string
  trafficSourceId: string
  visitorId: string
  country: string
  region: string
  city: string
  device: string
  os: string
  osVersion: string
  browser: string
  browserVersion: string
  language: string
  referrer: string
  userAgent: string
  /** Anonymised: the last octet (IPv4) or the last 80 bits (IPv6) are zero. */
  ip: string
  externalClickId: string
  utmSource: string
  utmMedium: string
  utmCampaign: string
  utmTerm: string
  utmContent: string
  /** Millionths of `currency`. */
  cost: bigint | null
  currency: string
  /** Millionths of the account's currency. */
  costBase: bigint | null
  isBot: boolean
  isTest: boolean
}

const { text, instant, moneyOrNull, flag } = columnsOf<Click>()

/** The columns of `clicks` that are written; other columns have defaults. */
export const clickColumns: readonly Column<Click>[] = [
  text('account_id', (click) => click.accountId),
  instant('clicked_at', (click) => click.clickedAt),
  text('id', (click) => click.id),
  text('campaign_id', (click) => click.campaignId),
  text('offer_id', (click) => click.offerId),
  text('landing_page_id', (click) => click.landingPageId),
  text('traffic_source_id', (click) => click.trafficSourceId),
  text('visitor_id', (click) => click.visitorId),
  text('country', (click) => click.country),
  text('region', (click) => click.region),
  text('city', (click) => click.city),
  text('device', (click) => click.device),
  text('os', (click) => click.os),
  text('os_version', (click) => click.osVersion),
  text('browser', (click) => click.browser),
  text('browser_version', (click) => click.browserVersion),
  text('language', (click) => click.language),
  text('referrer', (click) => click.referrer),
  text('user_agent', (click) => click.userAgent),
  text('ip', (click) => click.ip),
  ...subIdNames.map((name) => text(name, (click) => click[name])),
  text('external_click_id', (click) => click.externalClickId),
  text('utm_source', (click) => click.utmSource),
  text('utm_medium', (click) => click.utmMedium),
  text('utm_campaign', (click) => click.utmCampaign),
  text('utm_term', (click) => click.utmTerm),
  text('utm_content', (click) => click.utmContent),
  moneyOrNull('cost', (click) => click.cost),
  text('currency', (click) => click.currency),
  moneyOrNull('cost_base', (click) => click.costBase),
  flag('is_bot', (click) => click.isBot),
  flag('is_test', (click) => click.isTest),
]
