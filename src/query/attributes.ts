import { conversionSources, conversionStatuses } from '../../schema/conversion.ts'
import {
  conversionAttributeNames,
  type Dimension,
  isProperty,
  notSet,
  type PropertyName,
  type SummedDimension,
  summedDimensions,
  type TimeDimension,
  utmNames,
} from '../../schema/dimensions.ts'
import { eventOrigins } from '../../schema/event.ts'
import { devices, type FilterAttribute } from '../../schema/filters.ts'
import { idPattern } from '../../schema/scalars.ts'
import { subIdNames } from '../../schema/subIds.ts'
import { ch, type Fragment, identifier, text } from '../stores/clickhouse/sql.ts'
import { isLong, shortened } from './shownText.ts'

/** The tables of facts. Metrics count and add up their rows. */
export const rowTables = ['clicks', 'conversions', 'costs'] as const
export type RowTable = (typeof rowTables)[number]

/** Expressions of the value of an attribute, empty when absent. */
type Attribute = Record<RowTable, Fragment>

const absent = ch`''`
const none: Attribute = { clicks: absent, conversions: absent, costs: absent }

const shared = (column: string): Attribute => ({
  clicks: identifier(column),
  conversions: identifier(column),
  costs: identifier(column),
})

/** A column of clicks; conversions have a copy of the value of their click, and costs have no value. */
const ofClick = (column: string, expression = (value: Fragment) => value): Attribute => ({
  ...none,
  clicks: expression(identifier(column)),
  conversions: expression(identifier(`click_${column}`)),
})

/** A column of conversions alone: clicks and costs have no value. */
const ofConversion = (column: string): Attribute => ({ ...none, conversions: identifier(column) })

/** The first tag of an `Accept-Language` header, lower case. */
const firstLanguage = (header: Fragment) => ch`lower(trimBoth(extract(${header}, '^[^,;]*')))`
/** The host of a URL, lower case, without `www.`. */
const domainOf = (url: Fragment) => ch`replaceRegexpOne(lower(domainRFC(${url})), '^www[.]', '')`

/** Attributes with the names of their columns. */
const named = <Name extends string>(names: readonly Name[], toAttribute: (column: string) => Attribute) =>
  Object.fromEntries(names.map((name) => [name, toAttribute(name)])) as Record<Name, Attribute>

const attributes: Record<Exclude<FilterAttribute, PropertyName>, Attribute> = {
  campaign: shared('campaign_id'),
  offer: shared('offer_id'),
  landing: shared('landing_page_id'),
  traffic_source: shared('traffic_source_id'),
  traffic_source_category: shared('traffic_source_id'),
  affiliate_network: shared('offer_id'),
  language: ofClick('language', firstLanguage),
  referrer_domain: ofClick('referrer', domainOf),
  click_id: { clicks: identifier('id'), conversions: identifier('click_id'), costs: absent },
  visitor_id: { ...shared('visitor_id'), costs: absent },
  ...named(['country', 'device', 'os', 'browser', ...subIdNames], shared),
  ...named(['region', 'city', 'os_version', 'browser_version', ...utmNames], ofClick),
  ...named([...conversionAttributeNames, 'transaction_id'], ofConversion),
  event_origin: none,
}

/** @returns the expression of an attribute over the rows of a table */
export function attributeOf(name: FilterAttribute, table: RowTable): Fragment {
  return isProperty(name) ? absent : attributes[name][table]
}

/** Whether rows of a table can have a value. */
export function hasAttribute(name: FilterAttribute, table: RowTable): boolean {
  return attributeOf(name, table) !== absent
}

const oneOf = (names: readonly string[]) => ({
  pattern: new RegExp(`^(${names.join('|')})$`),
  allowed: `one of ${names.join(', ')}`,
})
const id = { pattern: new RegExp(idPattern), allowed: '1 to 64 letters, digits and _ . : -' }
const ids = { campaign: id, offer: id, landing: id, traffic_source: id, visitor_id: id, click_id: id }

/** Values that an attribute can have, none of them the text `(not set)`; any text unless listed here. `allowed` completes "must be …". */
export const formats: Partial<Record<FilterAttribute, typeof id>> = {
  ...ids,
  country: { pattern: /^[A-Z]{2}$/, allowed: 'country codes such as US' },
  device: oneOf(devices),
  status: oneOf(conversionStatuses),
  source: oneOf(conversionSources),
  event_origin: oneOf(eventOrigins),
}

/** @returns the key that an attribute's values are grouped by: absent values are the empty text, long ones are as responses show them */
export function attributeKey(name: Exclude<Dimension, TimeDimension>, value: Fragment): Fragment {
  if (formats[name]) return value
  return ch`multiIf(${value} = ${text(notSet)}, '', ${isLong(value)}, ${shortened(value)}, ${value})`
}

export function isSummed(name: FilterAttribute): name is SummedDimension {
  return (summedDimensions as readonly FilterAttribute[]).includes(name)
}
