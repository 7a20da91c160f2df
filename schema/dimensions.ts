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

export const utmNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const

/** Dimensions of conversions; a click has no value. Each is also a filter of the same name. */
export const conversionAttributeNames = ['status', 'source', 'event_name', 'coupon_code'] as const
export type ConversionAttributeName = (typeof conversionAttributeNames)[number]

/** Dimensions in which every click and conversion has one value. */
export const attributeNames = [
  ...summedDimensions,
  'region',
  'city',
  'language',
  'os_version',
  'browser_version',
  'referrer_domain',
  ...utmNames,
  ...subIdNames,
  ...conversionAttributeNames,
] as const
export type AttributeName = (typeof attributeNames)[number]

/** Dimensions that are computed from the time of a click or a conversion, in a time zone. */
export const timeDimensions = ['day', 'hour', 'week', 'month', 'hour_of_day', 'weekday'] as const
export type TimeDimension = (typeof timeDimensions)[number]

/** Dimensions that a report can be grouped by. */
export const dimensions = [...attributeNames, ...timeDimensions] as const
export type Dimension = (typeof dimensions)[number]

/** Id and name of the bucket of rows without a value. */
export const notSet = '(not set)'
