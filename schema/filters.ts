import { type TString, Type } from '@sinclair/typebox'
import {
  type AttributeName,
  type ConversionAttributeName,
  conversionAttributeNames,
  entityDimensionNames,
  eventAttributeNames,
  isOfEntity,
  type PropertyName,
  utmNames,
} from './dimensions.ts'
import { isRepeatable, OneOf, optional } from './scalars.ts'
import { subIdNames } from './subIds.ts'

const describedNames = ['country', 'region', 'city', 'device', 'os', 'browser', 'language', 'referrer_domain'] as const
/** Filters with the name of their attribute. */
const sameNames = [...entityDimensionNames, ...describedNames, ...utmNames, ...subIdNames] as const

export const devices = ['desktop', 'mobile', 'tablet', 'other'] as const

/** Filter parameters and the attribute that each selects by. */
export const filterAttributes = {
  campaign_id: 'campaign',
  offer_id: 'offer',
  landing_page_id: 'landing',
  traffic_source_id: 'traffic_source',
  ...(Object.fromEntries(sameNames.map((name) => [name, name])) as { [Name in (typeof sameNames)[number]]: Name }),
} as const satisfies Record<string, AttributeName>
export type FilterName = keyof typeof filterAttributes

export const filterNames = Object.keys(filterAttributes) as FilterName[]

/** Filters that limit a key: a changed entity never changes what a key sees. */
export const viewFilterNames = filterNames.filter((name) => !isOfEntity(name))

/** Names the filters that a parameter takes: its own name, or names in `filters`. */
export const takesFilters = Symbol('takesFilters')

/** Values of one filter. */
export const filterValuesMax = 100

/** Characters of one filter. */
const filterLengthMax = 8_192

/**
 * Parameters of every endpoint that filters clicks and conversions. Each is a list of values; `readFilters` parses them.
 * To support filters on another endpoint, spread these into its query schema and pass the query to `readFilters`.
 */
export const filterParameters = filterParametersOf(filterNames, 'clicks and conversions', {}, { device: devices })

/** Parameters of lists that filter by a column of the same name. */
export const columnFilterNames = ['visitor_id', 'click_id', 'transaction_id'] as const
export type ColumnFilterName = (typeof columnFilterNames)[number]

/** What a filter selects by: an attribute, or a column that identifies rows instead of describing them. */
export type FilterAttribute = AttributeName | PropertyName | ColumnFilterName

/** Names of filters: parameters that select by a list of values, and names that only `filters` takes. */
export type ParameterName =
  | FilterName
  | ConversionAttributeName
  | ColumnFilterName
  | (typeof eventAttributeNames)[number]

/** The filter parameters of endpoints that have `filters`. */
export const namesInTree = {
  clicks: [...filterNames, 'visitor_id'],
  conversions: [...filterNames, ...columnFilterNames, ...conversionAttributeNames],
  costs: filterNames,
  facts: [...filterNames, ...conversionAttributeNames, ...eventAttributeNames],
  events: ['campaign_id', 'event_name', 'click_id', 'visitor_id'],
} as const satisfies Record<string, readonly ParameterName[]>

/** Limits of `filters`. */
export const filterTreeLimits = { bytes: 4_096, depth: 4, leaves: 100 }

/**
 * Conditions that the parameters of single filters cannot express; `readAllFilters` parses them.
 * @param names of the filters
 * @param more what else the description says
 */
export const filterTreeParameter = (names: readonly ParameterName[], more = '') =>
  optional({
    filters: Type.String({
      [takesFilters]: names,
      minLength: 2,
      description: `Conditions that the other filters cannot express, as JSON: \`[["contains","referrer_domain",["google"]],["is_not","country",["US"]]]\`. The guide "Drill down" has all operators.${more}`,
    }),
  })

/** The same for events, which have few filters. */
export const eventFilterTreeParameter = filterTreeParameter(
  namesInTree.events,
  ` Filters: ${namesInTree.events.map((name) => `\`${name}\``).join(', ')}.`,
)

/** The same for reports. */
export const reportFilterTreeParameter = filterTreeParameter(
  namesInTree.facts,
  ' Also conditions on metrics: `[">=","cost",50]`; totals include all rows.',
)

/**
 * @param rows the rows that the parameters select, for their descriptions
 * @param more what else the description of a parameter says
 * @param fixed the values of filters that have no others, for tools that complete them
 */
export function filterParametersOf<Name extends ParameterName>(
  names: readonly Name[],
  rows: string,
  more: Partial<Record<Name, string>> = {},
  fixed: Partial<Record<Name, readonly string[]>> = {},
) {
  const length = { minLength: 1, maxLength: filterLengthMax }
  const parameter = (name: Name) =>
    Type.String({
      [isRepeatable]: true,
      [takesFilters]: [name],
      ...(fixed[name] ? { anyOf: [OneOf(fixed[name]), Type.String(length)] } : length),
      description: `Only ${rows} with one of up to ${filterValuesMax} values, separated by commas; a leading \`!\` excludes them. \`(not set)\` is the empty value; \`\\,\`, \`\\\\\` and a leading \`\\!\` are literal.${more[name] ?? ''}`,
    })
  return optional(Object.fromEntries(names.map((name) => [name, parameter(name)])) as Record<Name, TString>)
}
