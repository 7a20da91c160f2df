import type { QueryOf } from '../packages/client/types.ts'

/** A parameter that filters reports, series, conversions and funnels alike. */
export type FilterName = Exclude<
  keyof QueryOf<'/funnels'> & keyof QueryOf<'/conversions'> & keyof QueryOf<'/reports'>,
  'from' | 'to' | 'days' | 'range' | 'tz'
>

type SubId = Extract<FilterName, `sub${number}`>

const subIds = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`sub${n + 1}`, `Sub-id ${n + 1}`])) as Record<
  SubId,
  string
>

/** Dimensions by their labels; the filter of each one has the same name. */
function ownFilters<Name extends FilterName>(labels: Readonly<Record<Name, string>>) {
  const entries = Object.entries(labels).map(([filter, label]) => [filter, { label, filter }])
  return Object.fromEntries(entries) as { [Own in Name]: { label: string; filter: Own } }
}

/**
 * Dimensions by which the table can be grouped, in the order of selections, and the parameter that filters by each.
 */
export const dimensions = {
  campaign: { label: 'Campaign', filter: 'campaign_id' },
  offer: { label: 'Offer', filter: 'offer_id' },
  landing: { label: 'Landing page', filter: 'landing_page_id' },
  traffic_source: { label: 'Traffic source', filter: 'traffic_source_id' },
  ...ownFilters({
    traffic_source_category: 'Category of traffic source',
    affiliate_network: 'Affiliate network',
    country: 'Country',
    region: 'Region',
    city: 'City',
    device: 'Device',
    os: 'Operating system',
  }),
  os_version: { label: 'OS version' },
  ...ownFilters({ browser: 'Browser' }),
  browser_version: { label: 'Browser version' },
  ...ownFilters({
    language: 'Language',
    referrer_domain: 'Referrer',
    utm_source: 'UTM source',
    utm_medium: 'UTM medium',
    utm_campaign: 'UTM campaign',
    utm_term: 'UTM term',
    utm_content: 'UTM content',
    ...subIds,
  }),
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

/** Dimensions with values that have names; addresses have their ids. */
export const namedDimensions: readonly Dimension[] = ['campaign', 'offer', 'landing', 'traffic_source', 'country']

/** Dimensions by which the API groups a funnel. */
export const funnelDimensions = ['campaign', 'country', 'device', 'traffic_source'] as const

export const filterNames = Object.keys(filterDimensions) as FilterName[]
