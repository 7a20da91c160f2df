import { type Static, Type } from '@sinclair/typebox'
import { Metrics, metricFields } from './metrics.ts'
import { rangeParameters } from './range.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Id, Instant } from './scalars.ts'

/** Dimensions that a report can be grouped by. */
export const dimensions = [
  'campaign',
  'country',
  'device',
  'os',
  'browser',
  'offer',
  'landing',
  'traffic_source',
  'day',
] as const
export type Dimension = (typeof dimensions)[number]

export const reportDaysDefault = 30
export const reportBucketsMax = 1000

/** Id and name of the bucket of rows without a value. */
export const notSet = '(not set)'

export const ReportQuery = Type.Object(
  {
    group_by: Type.Union(
      dimensions.map((dimension) => Type.Literal(dimension)),
      { description: 'Dimension to group by: one row per value.' },
    ),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        default: reportDaysDefault,
        description: 'Number of UTC days up to and including today. Ignored if `from` is present.',
      }),
    ),
    ...rangeParameters,
    campaign_id: Type.Optional(Type.String({ ...Id, description: 'Only clicks and conversions of this campaign.' })),
    ...formatParameter(tableFormats),
  },
  { additionalProperties: false },
)
export type ReportQuery = Static<typeof ReportQuery>

export const ReportRow = Type.Object({
  id: Type.String({
    description: `Value of the dimension: a campaign id, a country code, a day, …; \`${notSet}\` for rows without a value.`,
  }),
  name: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Label of the value; null for an unknown id.',
  }),
  ...metricFields,
})

export const ReportResponse = Type.Object({
  groupBy: Type.Union(dimensions.map((dimension) => Type.Literal(dimension))),
  from: Instant,
  to: Instant,
  currency: Currency,
  data: Type.Array(ReportRow, {
    maxItems: reportBucketsMax,
    description: 'Ordered by clicks, descending, then by id.',
  }),
  totals: Metrics,
  bucketCount: Type.Integer({ description: 'Total number of buckets, including those beyond the first 1,000.' }),
  truncated: Type.Boolean({ description: 'Whether there are more buckets than rows in `data`.' }),
  asOf: Instant,
})
export type ReportResponse = Static<typeof ReportResponse>
