import { subIdNames } from './subIds.ts'

/** Dimensions that have sums tables: a report by one of them, a campaign and a day reads no rows. */
export const summedDimensions = [
  'campaign',
  'country',
  'device',
  'os',
  'browser',
  'offer',
  'landing',
  'traffic_source',
] as const
export type SummedDimension = (typeof summedDimensions)[number]

/** Dimensions with the value that the entity of a row has at present: the dimension of the entity, and where its value is. */
export const entityDimensions = {
  traffic_source_category: { by: 'traffic_source', table: 'traffic_sources', column: 'category' },
  affiliate_network: { by: 'offer', table: 'offers', column: 'affiliate_network' },
} as const satisfies Record<string, { by: SummedDimension; table: string; column: string }>
export type EntityDimension = keyof typeof entityDimensions
export const entityDimensionNames = Object.keys(entityDimensions) as EntityDimension[]
export const isOfEntity = (name: string): name is EntityDimension => name in entityDimensions

export const utmNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const

/** Dimensions of conversions; a click has no value. Each is also a filter of the same name. */
export const conversionAttributeNames = ['status', 'source', 'event_name', 'coupon_code'] as const
export type ConversionAttributeName = (typeof conversionAttributeNames)[number]

/** Dimensions of events alone, as are their properties. */
export const eventAttributeNames = ['event_origin'] as const

/** Dimensions in which every row of a table has one value. */
export const attributeNames = [
  ...summedDimensions,
  ...entityDimensionNames,
  'region',
  'city',
  'language',
  'os_version',
  'browser_version',
  'referrer_domain',
  ...utmNames,
  ...subIdNames,
  ...conversionAttributeNames,
  ...eventAttributeNames,
] as const
export type AttributeName = (typeof attributeNames)[number]

/** Dimensions that are computed from the time of a click or a conversion, in a time zone. */
export const timeDimensions = ['day', 'hour', 'week', 'month', 'hour_of_day', 'weekday'] as const
export type TimeDimension = (typeof timeDimensions)[number]

/** The dimension of a property of events: `property:plan`. */
export type PropertyName = `property:${string}`
export const propertyPattern = '^property:[A-Za-z0-9_.-]{1,64}$'
const property = new RegExp(propertyPattern)
export const isProperty = (name: string): name is PropertyName => property.test(name)

/** Dimensions that a report can be grouped by, beside properties. */
export const dimensions = [...attributeNames, ...timeDimensions] as const
export type Dimension = (typeof dimensions)[number] | PropertyName

/** Id and name of the bucket of rows without a value. */
export const notSet = '(not set)'
