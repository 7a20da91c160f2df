import type { QueryOf } from './paths.ts'

/** A parameter that filters reports, series, conversions and funnels alike. */
export type FilterName = Exclude<
  keyof QueryOf<'/funnels'> & keyof QueryOf<'/conversions'> & keyof QueryOf<'/reports'>,
  'from' | 'to'
>

interface DimensionText {
  label: string
  /** The parameter that filters by a value; dimensions of time and versions have none. */
  filter?: FilterName
}

/** Dimensions by which the table can be grouped, in the order of selections. */
export const dimensions = {
  campaign: { label: 'Campaign', filter: 'campaign_id' },
  offer: { label: 'Offer', filter: 'offer_id' },
  landing: { label: 'Landing page', filter: 'landing_page_id' },
  traffic_source: { label: 'Traffic source', filter: 'traffic_source_id' },
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
  sub1: { label: 'Sub-id 1', filter: 'sub1' },
  sub2: { label: 'Sub-id 2', filter: 'sub2' },
  sub3: { label: 'Sub-id 3', filter: 'sub3' },
  sub4: { label: 'Sub-id 4', filter: 'sub4' },
  sub5: { label: 'Sub-id 5', filter: 'sub5' },
  sub6: { label: 'Sub-id 6', filter: 'sub6' },
  sub7: { label: 'Sub-id 7', filter: 'sub7' },
  sub8: { label: 'Sub-id 8', filter: 'sub8' },
  sub9: { label: 'Sub-id 9', filter: 'sub9' },
  sub10: { label: 'Sub-id 10', filter: 'sub10' },
  day: { label: 'Day' },
  week: { label: 'Week' },
  month: { label: 'Month' },
  hour_of_day: { label: 'Hour of the day' },
  weekday: { label: 'Weekday' },
} as const satisfies Record<string, DimensionText>

export type Dimension = keyof typeof dimensions

export const dimensionNames = Object.keys(dimensions) as Dimension[]

/** The parameter that filters by a dimension; undefined for dimensions of time and versions. */
export function filterOf(dimension: Dimension): FilterName | undefined {
  const text: DimensionText = dimensions[dimension]
  return text.filter
}

/** The dimension of each filter. */
export const filterDimensions = Object.fromEntries(
  dimensionNames.flatMap((name) => {
    const filter = filterOf(name)
    return filter ? [[filter, name]] : []
  }),
) as Record<FilterName, Dimension>

export const filterNames = Object.keys(filterDimensions) as FilterName[]
