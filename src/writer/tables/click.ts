import { type Column, columnsOf } from '../../stores/clickhouse/columns.ts'

/** A click as it is stored: absent text is empty, absent amounts are null, times are epoch milliseconds UTC. */
export interface Click {
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
  sub1: string
  sub2: string
  sub3: string
  sub4: string
  sub5: string
  sub6: string
  sub7: string
  sub8: string
  sub9: string
  sub10: string
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
  text('sub1', (click) => click.sub1),
  text('sub2', (click) => click.sub2),
  text('sub3', (click) => click.sub3),
  text('sub4', (click) => click.sub4),
  text('sub5', (click) => click.sub5),
  text('sub6', (click) => click.sub6),
  text('sub7', (click) => click.sub7),
  text('sub8', (click) => click.sub8),
  text('sub9', (click) => click.sub9),
  text('sub10', (click) => click.sub10),
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
