import { subIdNames } from '../../schema/click.ts'
import { ch, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'

/**
 * A field of a row that ClickHouse itself writes as NDJSON, CSV or Parquet: its name is that of the API, its value a
 * column of a type that the format knows. Absent text is stored as the empty string and leaves as NULL.
 */
export interface RowField {
  name: string
  value: Fragment
  /** What a CSV cell holds instead, where a value is no single one. */
  cell?: Fragment
  /** Whether the cell is text of any content: neither a number, a moment nor a word of ours. */
  isText?: true
}

/**
 * The fields of a click that are stored, named and ordered as in the API.
 * @param places campaign, offer, landing page and traffic source: their ids, or with what each is called
 */
export function clickFields(baseCurrency: string, places: readonly RowField[] = entityIds): RowField[] {
  return [
    { name: 'id', value: ch`id`, isText: true },
    { name: 'clickedAt', value: ch`clicked_at` },
    ...places,
    ...texts({ visitorId: 'visitor_id' }),
    ...texts({
      country: 'country',
      region: 'region',
      city: 'city',
      device: 'device',
      os: 'os',
      osVersion: 'os_version',
    }),
    ...texts({ browser: 'browser', browserVersion: 'browser_version', language: 'language', referrer: 'referrer' }),
    ...texts({ userAgent: 'user_agent', ip: 'ip' }),
    subIds,
    ...texts({ externalClickId: 'external_click_id', utmSource: 'utm_source', utmMedium: 'utm_medium' }),
    ...texts({ utmCampaign: 'utm_campaign', utmTerm: 'utm_term', utmContent: 'utm_content' }),
    ...same('cost'),
    ...texts({ currency: 'currency' }),
    { name: 'costBase', value: ch`cost_base` },
    { name: 'baseCurrency', value: ch`${text(baseCurrency)}` },
    { name: 'isBot', value: ch`is_bot` },
    { name: 'isTest', value: ch`is_test` },
  ]
}

/** The same of a conversion. */
export function conversionFields(baseCurrency: string, places: readonly RowField[] = entityIds): RowField[] {
  return [
    { name: 'id', value: ch`id`, isText: true },
    ...same('source', 'status'),
    ...texts({ externalStatus: 'external_status', eventName: 'event_name' }),
    { name: 'convertedAt', value: ch`converted_at` },
    { name: 'clickedAt', value: ch`clicked_at` },
    { name: 'createdAt', value: ch`created_at` },
    { name: 'updatedAt', value: ch`updated_at` },
    ...texts({ clickId: 'click_id', visitorId: 'visitor_id', transactionId: 'transaction_id' }),
    ...places,
    ...texts({ country: 'country', device: 'device', os: 'os', browser: 'browser' }),
    subIds,
    ...same('payout', 'revenue'),
    ...texts({ currency: 'currency' }),
    { name: 'revenueBase', value: ch`revenue_base` },
    { name: 'baseCurrency', value: ch`${text(baseCurrency)}` },
    ...texts({ couponCode: 'coupon_code' }),
    { name: 'isTest', value: ch`is_test` },
  ]
}

/** Fields whose column has the same name and is never absent, or NULL when it is. */
function same(...names: string[]): RowField[] {
  return names.map((name) => ({ name, value: identifier(name) }))
}

/** Fields of text. @param columns by the name of their field */
export function texts(columns: Record<string, string>): RowField[] {
  return Object.entries(columns).map(([name, column]) => ({
    name,
    value: ch`nullIf(${identifier(column)}, '')`,
    isText: true,
  }))
}

const entityIds = texts({
  campaignId: 'campaign_id',
  offerId: 'offer_id',
  landingPageId: 'landing_page_id',
  trafficSourceId: 'traffic_source_id',
})

const subIdValues = join(
  subIdNames.map((name) => ch`nullIf(${identifier(name)}, '')`),
  ', ',
)
const subIdTypes = join(
  subIdNames.map((name) => ch`${identifier(name)} Nullable(String)`),
  ', ',
)
const subIdTuple = ch`CAST((${subIdValues}), 'Tuple(${subIdTypes})')`
const subIds: RowField = { name: 'subIds', value: subIdTuple, cell: ch`toJSONString(${subIdTuple})` }
