import { type Static, Type } from '@sinclair/typebox'
import { compareParameter, previousTotals } from './comparison.ts'
import { dimensions, notSet } from './dimensions.ts'
import { filterParameters } from './filters.ts'
import { metricFields, metricNames, optionalMetricFields, SelectedMetrics } from './metrics.ts'
import { retainedFrom } from './page.ts'
import { daysParameter, localRangeParameters, optionalTimeZoneParameter } from './range.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Instant, NullableText, OneOf, optional } from './scalars.ts'

export const reportBucketsMax = 1000

const dimension = `(${dimensions.join('|')})`
const metric = `(${metricNames.join('|')})`
const sortKeys = ['id', ...metricNames].flatMap((key) => [key, `-${key}`])

export const ReportQuery = Type.Object({
  group_by: Type.String({
    pattern: `^${dimension}(,${dimension}){0,2}$`,
    description: `One to three dimensions to group by, separated by commas: one row per combination of values. Dimensions: ${dimensions.join(', ')}.`,
    examples: ['country', 'campaign,country', 'weekday,hour_of_day'],
  }),
  ...daysParameter(365),
  ...localRangeParameters,
  ...optionalTimeZoneParameter,
  ...filterParameters,
  ...optional({
    sort: OneOf(sortKeys, {
      description:
        'Order of the rows: `id` or a metric, descending with a leading `-`; default `-clicks`. Equal rows are ordered by id; null ratios are last.',
    }),
    limit: Type.Integer({
      minimum: 1,
      maximum: reportBucketsMax,
      default: reportBucketsMax,
      description: 'Maximum number of rows. Totals include all buckets.',
    }),
    metrics: Type.String({
      pattern: `^${metric}(,${metric})*$`,
      description: 'Metrics to return, separated by commas; default: all. Rows and their order do not depend on it.',
    }),
    ...compareParameter,
    ...formatParameter(tableFormats),
    totals: Type.Boolean({
      default: false,
      description: 'CSV only: adds a last line with the totals; its first cell is `(total)`.',
    }),
  }),
})
export type ReportQuery = Static<typeof ReportQuery>

const label = NullableText('Name of the value; null for an unknown id.')

/** Metrics of the bucket in the earlier range. */
const PreviousRow = Type.Object(
  {
    id: NullableText('Id of the bucket in the earlier range; null if it has none, for example of 29 February.'),
    ...optionalMetricFields,
  },
  { description: 'With `compare`: the same bucket in the earlier range.' },
)

const ReportRow = Type.Object(
  {
    id: Type.String({
      description: `Value of the dimension: a campaign id, a country code, a day, …; \`${notSet}\` for rows without a value. With several dimensions: their ids as a JSON array.`,
    }),
    name: label,
    ...optional({
      dimensions: Type.Record(Type.String(), Type.Object({ id: Type.String(), name: label }), {
        description: 'With several dimensions: id and name of each.',
      }),
      ...metricFields,
      previous: PreviousRow,
    }),
  },
  { $id: 'ReportRow' },
)

export const ReportResponse = Type.Object(
  {
    groupBy: Type.String({ description: 'Same as `group_by` of the request.' }),
    from: Instant,
    to: Instant,
    ...optional({ tz: Type.String({ description: 'IANA time zone, if the request has `tz`.' }) }),
    currency: Currency,
    data: Type.Array(ReportRow, {
      maxItems: reportBucketsMax,
      description: 'Ordered by `sort`; by default by clicks, descending, then by id.',
    }),
    totals: SelectedMetrics,
    ...previousTotals(SelectedMetrics),
    ...retainedFrom,
    bucketCount: Type.Integer({ description: 'Total number of buckets, including those beyond `limit`.' }),
    truncated: Type.Boolean({ description: 'Whether there are more buckets than rows in `data`.' }),
    asOf: Instant,
  },
  { $id: 'Report' },
)
export type ReportResponse = Static<typeof ReportResponse>
