import { type TString, Type } from '@sinclair/typebox'
import { type AttributeName, type ConversionAttributeName, utmNames } from './dimensions.ts'
import { optional } from './scalars.ts'
import { subIdNames } from './subIds.ts'

const trackingNames = [...utmNames, ...subIdNames] as const

/** Filter parameters and the attribute that each selects by. */
export const filterAttributes = {
  campaign_id: 'campaign',
  offer_id: 'offer',
  landing_page_id: 'landing',
  traffic_source_id: 'traffic_source',
  country: 'country',
  region: 'region',
  city: 'city',
  device: 'device',
  os: 'os',
  browser: 'browser',
  language: 'language',
  referrer_domain: 'referrer_domain',
  ...(Object.fromEntries(trackingNames.map((name) => [name, name])) as {
    [Name in (typeof trackingNames)[number]]: Name
  }),
} as const satisfies Record<string, AttributeName>
export type FilterName = keyof typeof filterAttributes

export const filterNames = Object.keys(filterAttributes) as FilterName[]

/** Values of one filter. */
export const filterValuesMax = 100

/** Characters of one filter. */
const filterLengthMax = 8_192

/**
 * Parameters of every endpoint that filters clicks and conversions. Each is a list of values; `readFilters` parses them.
 * To support filters on another endpoint, spread these into its query schema and pass the query to `readFilters`.
 */
export const filterParameters = filterParametersOf(filterNames, 'clicks and conversions')

/** Parameters of lists that filter by a column of the same name. */
export const columnFilterNames = ['visitor_id', 'click_id', 'transaction_id'] as const
export type ColumnFilterName = (typeof columnFilterNames)[number]

/** What a filter selects by: an attribute, or a column that identifies rows instead of describing them. */
export type FilterAttribute = AttributeName | ColumnFilterName

/** Parameters that select by a list of values. */
export type ParameterName = FilterName | ConversionAttributeName | ColumnFilterName

/**
 * @param rows the rows that the parameters select, for their descriptions
 * @param more what else the description of a parameter says
 */
export function filterParametersOf<Name extends ParameterName>(
  names: readonly Name[],
  rows: string,
  more: Partial<Record<Name, string>> = {},
) {
  const parameter = (name: Name) =>
    Type.String({
      minLength: 1,
      maxLength: filterLengthMax,
      description: `Only ${rows} with one of up to ${filterValuesMax} values, separated by commas; a leading \`!\` excludes them. \`(not set)\` is the empty value; \`\\,\`, \`\\\\\` and a leading \`\\!\` are literal.${more[name] ?? ''}`,
    })
  return optional(Object.fromEntries(names.map((name) => [name, parameter(name)])) as Record<Name, TString>)
}
