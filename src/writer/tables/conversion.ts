import { blankSubIds, type SubIdName, subIdNames } from '../../../schema/click.ts'
import { type Column, columnsOf } from '../../stores/clickhouse/columns.ts'

/** One version of a conversion as it is stored: absent text is empty, times are epoch milliseconds UTC. */
export interface Conversion extends Record<SubIdName, string> {
  accountId: string
  id: string
  convertedAt: number
  /** Higher at every write of the id: epoch microseconds of the write, or more when the clock is behind. */
  version: number
  /** This version cancels the one before it. */
  isDeleted: boolean
  source: string
  status: string
  externalStatus: string
  eventName: string
  /** As imported, or copied from the click. */
  clickedAt: number | null
  createdAt: number
  updatedAt: number
  clickId: string
  /** clickedAt of the stored click; null while it has not arrived. */
  clickAt: number | null
  clickCampaignId: string
  clickOfferId: string
  clickExternalId: string
  clickReferrer: string
  visitorId: string
  transactionId: string
  campaignId: string
  offerId: string
  landingPageId: string
  trafficSourceId: string
  country: string
  device: string
  os: string
  browser: string
  /** Millionths of `currency`. */
  payout: bigint | null
  /** Millionths of `currency`. */
  revenue: bigint | null
  currency: string
  /** Millionths of the account's currency. */
  revenueBase: bigint | null
  couponCode: string
  isTest: boolean
  /** Fingerprint of the file it came from. */
  importFile: string
  /** Its line there, from 1. */
  importLine: number
}

/** A conversion with every field absent. */
export function blankConversion(accountId: string): Conversion {
  return {
    accountId,
    id: '',
    convertedAt: 0,
    version: 0,
    isDeleted: false,
    source: '',
    status: '',
    externalStatus: '',
    eventName: '',
    clickedAt: null,
    createdAt: 0,
    updatedAt: 0,
    clickId: '',
    clickAt: null,
    clickCampaignId: '',
    clickOfferId: '',
    clickExternalId: '',
    clickReferrer: '',
    visitorId: '',
    transactionId: '',
    campaignId: '',
    offerId: '',
    landingPageId: '',
    trafficSourceId: '',
    country: '',
    device: '',
    os: '',
    browser: '',
    ...blankSubIds,
    payout: null,
    revenue: null,
    currency: '',
    revenueBase: null,
    couponCode: '',
    isTest: false,
    importFile: '',
    importLine: 0,
  }
}

const { text, instant, instantOrNull, moneyOrNull, flag, uint64 } = columnsOf<Conversion>()

/** The columns of `conversions` that are written; other columns have defaults. */
export const conversionColumns: readonly Column<Conversion>[] = [
  text('account_id', (row) => row.accountId),
  instant('converted_at', (row) => row.convertedAt),
  text('id', (row) => row.id),
  uint64('version', (row) => row.version),
  flag('is_deleted', (row) => row.isDeleted),
  text('source', (row) => row.source),
  text('status', (row) => row.status),
  text('external_status', (row) => row.externalStatus),
  text('event_name', (row) => row.eventName),
  instantOrNull('clicked_at', (row) => row.clickedAt),
  instant('created_at', (row) => row.createdAt),
  instant('updated_at', (row) => row.updatedAt),
  text('click_id', (row) => row.clickId),
  instantOrNull('click_at', (row) => row.clickAt),
  text('click_campaign_id', (row) => row.clickCampaignId),
  text('click_offer_id', (row) => row.clickOfferId),
  text('click_external_id', (row) => row.clickExternalId),
  text('click_referrer', (row) => row.clickReferrer),
  text('visitor_id', (row) => row.visitorId),
  text('transaction_id', (row) => row.transactionId),
  text('campaign_id', (row) => row.campaignId),
  text('offer_id', (row) => row.offerId),
  text('landing_page_id', (row) => row.landingPageId),
  text('traffic_source_id', (row) => row.trafficSourceId),
  text('country', (row) => row.country),
  text('device', (row) => row.device),
  text('os', (row) => row.os),
  text('browser', (row) => row.browser),
  ...subIdNames.map((name) => text(name, (row) => row[name])),
  moneyOrNull('payout', (row) => row.payout),
  moneyOrNull('revenue', (row) => row.revenue),
  text('currency', (row) => row.currency),
  moneyOrNull('revenue_base', (row) => row.revenueBase),
  text('coupon_code', (row) => row.couponCode),
  flag('is_test', (row) => row.isTest),
  text('import_file', (row) => row.importFile),
  uint64('import_line', (row) => row.importLine),
]
