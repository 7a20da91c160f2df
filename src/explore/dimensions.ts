import type { QueryOf } from '../packages/client/types.ts'

/** A parameter that filters reports, series, conversions and funnels alike. */
export type FilterName = Exclude<
  keyof QueryOf<'/funnels'> & keyof QueryOf<'/conversions'> & keyof QueryOf<'/reports'>,
  'from' | 'to' | 'days' | 'range' | 'tz'
>

/** The texts that can be values of a dimension, and what an error calls them. */
export type ValueForm = { pattern: RegExp; name: string }
const id: ValueForm = { pattern: /^[\w.:-]{1,64}$/, name: 'an id' }
const code: ValueForm = { pattern: /^[a-z]{2}$/i, name: 'a code such as US' }
const device: ValueForm = { pattern: /^(desktop|mobile|tablet|other)$/i, name: 'desktop, mobile, tablet or other' }

type SubId = Extract<FilterName, `sub${number}`>

const subIds = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [`sub${n + 1}`, { label: `Sub-id ${n + 1}`, filter: `sub${n + 1}` }]),
) as { [Name in SubId]: { label: string; filter: Name } }

/**
 * Dimensions by which the table can be grouped, in the order of selections, and the parameter that filters by each. Without a `form`
 * any text can be a value.
 */
export const dimensions = {
  campaign: { label: 'Campaign', filter: 'campaign_id', form: id },
  offer: { label: 'Offer', filter: 'offer_id', form: id },
  landing: { label: 'Landing page', filter: 'landing_page_id', form: id },
  traffic_source: { label: 'Traffic source', filter: 'traffic_source_id', form: id },
  country: { label: 'Country', filter: 'country', form: code },
  region: { label: 'Region', filter: 'region' },
  city: { label: 'City', filter: 'city' },
  device: { label: 'Device', filter: 'device', form: device },
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
} as const satisfies Record<string, { label: string; filter?: FilterName; form?: ValueForm }>

export type Dimension = keyof typeof dimensions

export const dimensionNames = Object.keys(dimensions) as Dimension[]

/** The parameter that filters by a dimension; undefined for dimensions of time, of versions and of conversions only. */
export function filterOf(dimension: Dimension): FilterName | undefined {
  const { filter }: { label: string; filter?: FilterName } = dimensions[dimension]
  return filter
}

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

/** Dimensions by which the API groups a funnel. */
export const funnelDimensions = ['campaign', 'country', 'device', 'traffic_source'] as const

export const filterNames = Object.keys(filterDimensions) as FilterName[]
