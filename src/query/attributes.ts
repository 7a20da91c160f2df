import { type AttributeName, notSet, type SummedDimension, summedDimensions } from '../../schema/dimensions.ts'
import type { FilterAttribute } from '../../schema/filters.ts'
import { subIdNames } from '../../schema/subIds.ts'
import { ch, type Fragment, identifier, text } from '../stores/clickhouse/sql.ts'

export type RowTable = 'clicks' | 'conversions'

/** Expressions of the value of an attribute, empty when absent. */
type Attribute = Record<RowTable, Fragment>

const shared = (column: string): Attribute => ({ clicks: identifier(column), conversions: identifier(column) })

/** A column of clicks; conversions have a copy of the value of their click. */
const ofClick = (column: string, expression = (value: Fragment) => value): Attribute => ({
  clicks: expression(identifier(column)),
  conversions: expression(identifier(`click_${column}`)),
})

/** A column of conversions alone: clicks have no value. */
const ofConversion = (column: string): Attribute => ({ clicks: ch`''`, conversions: identifier(column) })

/** The first tag of an `Accept-Language` header, lower case. */
const firstLanguage = (header: Fragment) => ch`lower(trimBoth(extract(${header}, '^[^,;]*')))`
/** The host of a URL, lower case, without `www.`. */
const domainOf = (url: Fragment) => ch`replaceRegexpOne(lower(domainRFC(${url})), '^www[.]', '')`

const attributes: Record<FilterAttribute, Attribute> = {
  campaign: shared('campaign_id'),
  country: shared('country'),
  device: shared('device'),
  os: shared('os'),
  browser: shared('browser'),
  offer: shared('offer_id'),
  landing: shared('landing_page_id'),
  traffic_source: shared('traffic_source_id'),
  region: ofClick('region'),
  city: ofClick('city'),
  language: ofClick('language', firstLanguage),
  os_version: ofClick('os_version'),
  browser_version: ofClick('browser_version'),
  referrer_domain: ofClick('referrer', domainOf),
  utm_source: ofClick('utm_source'),
  utm_medium: ofClick('utm_medium'),
  utm_campaign: ofClick('utm_campaign'),
  utm_term: ofClick('utm_term'),
  utm_content: ofClick('utm_content'),
  ...(Object.fromEntries(subIdNames.map((name) => [name, shared(name)])) as Record<
    (typeof subIdNames)[number],
    Attribute
  >),
  visitor_id: shared('visitor_id'),
  click_id: { clicks: identifier('id'), conversions: identifier('click_id') },
  status: ofConversion('status'),
  source: ofConversion('source'),
  event_name: ofConversion('event_name'),
  coupon_code: ofConversion('coupon_code'),
  transaction_id: ofConversion('transaction_id'),
}

/** @returns the expression of an attribute over the rows of a table */
export function attributeOf(name: FilterAttribute, table: RowTable): Fragment {
  return attributes[name][table]
}

/** Attributes with a format that `(not set)` does not match; any other attribute may have `(not set)` as a stored text. */
const formatted: ReadonlySet<AttributeName> = new Set([
  'campaign',
  'offer',
  'landing',
  'traffic_source',
  'country',
  'device',
  'status',
  'source',
] as const)

/** @returns the key that an attribute's values are grouped by: absent values are the empty text */
export function attributeKey(name: AttributeName, value: Fragment): Fragment {
  return formatted.has(name) ? value : ch`if(${value} = ${text(notSet)}, '', ${value})`
}

export function isSummed(name: FilterAttribute): name is SummedDimension {
  return (summedDimensions as readonly FilterAttribute[]).includes(name)
}
