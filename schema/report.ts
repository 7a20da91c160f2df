import { type Static, Type } from '@sinclair/typebox'
import { Metrics, metricFields } from './metrics.ts'
import { rangeParameters } from './range.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Id, Instant } from './scalars.ts'

/** What a report can be grouped by. */
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

/** The id and name of the bucket of rows that have no value. */
export const notSet = '(not set)'

export const ReportQuery = Type.Object(
  {
    group_by: Type.Union(
      dimensions.map((dimension) => Type.Literal(dimension)),
      { description: 'What a row of the report stands for.' },
    ),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        default: reportDaysDefault,
        description: 'The last so many UTC days, today included. An explicit range wins.',
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
    description: `The bucket: a campaign id, a country code, a day, …; \`${notSet}\` for rows without.`,
  }),
  name: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Its label; null for an unknown id.' }),
  ...metricFields,
})

export const ReportResponse = Type.Object({
  groupBy: Type.Union(dimensions.map((dimension) => Type.Literal(dimension))),
  from: Instant,
  to: Instant,
  currency: Currency,
  data: Type.Array(ReportRow, { maxItems: reportBucketsMax, description: 'Clicks descending, then id ascending.' }),
  totals: Metrics,
  bucketCount: Type.Integer({ description: 'Buckets in all, beyond the first 1,000 too.' }),
  truncated: Type.Boolean({ description: 'Whether there are more buckets than rows here.' }),
  asOf: Instant,
})
export type ReportResponse = Static<typeof ReportResponse>
