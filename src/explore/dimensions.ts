import type { QueryOf } from '../packages/client/types.ts'

/** A parameter that filters reports, series, conversions and funnels alike. */
export type FilterName = Exclude<
  keyof QueryOf<'/funnels'> & keyof QueryOf<'/conversions'> & keyof QueryOf<'/reports'>,
  'from' | 'to' | 'days' | 'range' | 'tz'
>

type SubId = Extract<FilterName, `sub${number}`>

const subIds = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [`sub${n + 1}`, { label: `Sub-id ${n + 1}`, filter: `sub${n + 1}` }]),
) as { [Name in SubId]: { label: string; filter: Name } }

/**
 * Dimensions by which the table can be grouped, in the order of selections, and the parameter that filters by each.
 */
export const dimensions = {
  campaign: { label: 'Campaign', filter: 'campaign_id' },
  offer: { label: 'Offer', filter: 'offer_id' },
  landing: { label: 'Landing page', filter: 'landing_page_id' },
  traffic_source: { label: 'Traffic source', filter: 'traffic_source_id' },
  traffic_source_category: { label: 'Category of traffic source', filter: 'traffic_source_category' },
  affiliate_network: { label: 'Affiliate network', filter: 'affiliate_network' },
  country: { label: 'Country', filter: 'country' },
  region: { label: 'Region', filter: 'region' },
  city: { label: 'City', filter: 'city' },
  device: { label: 'Device', filter: 'device' },
  os: { label: 'Operating system', filter: 'os' },
  os_version: { label: 'OS version' },
  browser: { label: 'Browser', filter: 'browser' },
  browser_version: { label: 'Browser version' },
  language: { label: 'Language', filter: 'language' },
  referrer_domain: { label: 'Referrer', filter: 'referrer_domain' },
  utm_source: { label: 'UTM source', filter: 'utm_source' },
  utm_medium: { label: 'UTM medium', filter: 'utm_medium' },
  utm_campaign: { label: 'UTM campaign', filter: 'utm_campaign' },
  utm_term: { label: 'UTM term', filter: 'utm_term' },
  utm_content: { label: 'UTM content', filter: 'utm_content' },
  ...subIds,
  status: { label: 'Status of conversions' },
  source: { label: 'Source of conversions' },
  event_name: { label: 'Event of conversions' },
  coupon_code: { label: 'Coupon code' },
  day: { label: 'Day' },
  week: { label: 'Week' },
  month: { label: 'Month' },
  hour_of_day: { label: 'Hour of the day' },
  weekday: { label: 'Weekday' },
} as const satisfies Record<string, { label: string; filter?: FilterName }>

export type Dimension = keyof typeof dimensions

export const dimensionNames = Object.keys(dimensions) as Dimension[]

export const timeDimensions: readonly Dimension[] = ['day', 'week', 'month', 'hour_of_day', 'weekday']

/** The parameter that filters by a dimension; undefined for dimensions of time, of versions and of conversions only. */
export const filterOf = (dimension: Dimension) => filtered[dimension].filter

const filtered: Readonly<Record<Dimension, { label: string; filter?: FilterName }>> = dimensions

/** A dimension that has a filter. */
export type FilteredDimension = {
  [Name in Dimension]: (typeof dimensions)[Name] extends { filter: FilterName } ? Name : never
}[Dimension]

export const filteredDimensions = dimensionNames.filter(
  (name): name is FilteredDimension => filterOf(name) !== undefined,
)

export const filterDimensions = Object.fromEntries(
  filteredDimensions.map((name) => [dimensions[name].filter, name]),
) as Record<FilterName, FilteredDimension>

/** Dimensions with values that have names; addresses have their ids. */
export const namedDimensions: readonly Dimension[] = ['campaign', 'offer', 'landing', 'traffic_source', 'country']

/** Dimensions by which the API groups a funnel. */
export const funnelDimensions = ['campaign', 'country', 'device', 'traffic_source'] as const

export const filterNames = Object.keys(filterDimensions) as FilterName[]
