import { type Static, Type } from '@sinclair/typebox'
import { compareParameters, previousTotals } from './comparison.ts'
import { conversionFilterParameters } from './conversion.ts'
import { countAtField, countParameters } from './countAt.ts'
import { dataThrough } from './dataThrough.ts'
import { dimensions, notSet, propertyPattern } from './dimensions.ts'
import { filterParameters, reportFilterTreeParameter } from './filters.ts'
import {
  namedMetricPattern,
  namedMetricsMax,
  namedSortPattern,
  optionalMetricFields,
  reportMetricNames,
  SelectedMetrics,
} from './metrics.ts'
import { countedFrom } from './page.ts'
import { daysParameter, localRangeParameters, optionalTimeZoneParameter } from './range.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Instant, ListOf, Named, NullableText, OneOfOrLike, optional } from './scalars.ts'

export const reportBucketsMax = 1000
export const reportOffsetMax = 1_000_000
const leastMax = 1_000_000_000

const sortKeys = ['id', ...reportMetricNames, ...reportMetricNames.map((name) => `change.${name}`)].flatMap((key) => [
  key,
  `-${key}`,
])

/** Parameter that selects buckets by a count. */
function leastCount(metric: 'clicks' | 'conversions') {
  return Type.Integer({
    minimum: 1,
    maximum: leastMax,
    description: `Only buckets with at least this many \`${metric}\`. Totals include all rows.`,
  })
}

export const ReportQuery = Type.Object({
  group_by: ListOf(dimensions, {
    maxItems: 3,
    pattern: propertyPattern,
    description:
      'One to three dimensions to group by, separated by commas: one row per combination of values. `property:plan` is a property of events.',
    examples: [['country'], ['campaign', 'country'], ['weekday', 'hour_of_day']],
  }),
  ...daysParameter(365),
  ...localRangeParameters,
  ...optionalTimeZoneParameter,
  ...filterParameters,
  ...conversionFilterParameters,
  ...reportFilterTreeParameter,
  ...optional({
    sort: OneOfOrLike(sortKeys, namedSortPattern, {
      description:
        'Order of the rows: `id`, a metric, or with a comparison `change.` and a metric: its difference to the other range. A leading `-` is descending; default `-clicks`, or the first metric, descending, if all are of events. Equal rows are ordered by id; nulls are last.',
    }),
    limit: Type.Integer({
      minimum: 1,
      maximum: reportBucketsMax,
      default: reportBucketsMax,
      description: 'Maximum number of rows. Totals include all buckets.',
    }),
    offset: Type.Integer({
      minimum: 0,
      maximum: reportOffsetMax,
      default: 0,
      description:
        'Number of rows to skip. `next` of a response, and `Link` of CSV, lead to the next ones in the same ranges.',
    }),
    min_clicks: leastCount('clicks'),
    min_conversions: leastCount('conversions'),
    metrics: ListOf(reportMetricNames, {
      pattern: namedMetricPattern,
      description: `Metrics to return, separated by commas; default: all but \`visitors\`, \`events\` and \`eventVisitors\`, which read rows instead of sums. At most ${namedMetricsMax} are of events of one name, such as \`events:signup\`. Metrics of events require the scope \`read:events\`, and a row can have only events; without other metrics only events are read. Rows and their order do not depend on other metrics.`,
    }),
    ...compareParameters,
    ...countParameters,
    ...formatParameter(tableFormats),
    totals: Type.Boolean({
      default: false,
      description:
        'CSV only: adds a last line with the totals of all rows; its first cell is `(total)`. If the file lacks rows, the second cell has the number of all rows: `of 1580 rows`.',
    }),
  }),
})
export type ReportQuery = Static<typeof ReportQuery>

const label = NullableText('Name of the value; null for an unknown id.')

/** Metrics of the bucket in the other range. */
const PreviousRow = Type.Object(
  {
    id: NullableText('Id of the bucket in the other range; null if it has none, for example of 29 February.'),
    ...optionalMetricFields,
  },
  { description: 'With `compare` or `compare_from`: the same bucket in the other range.' },
)

const ReportRow = Named('ReportRow', {
  id: Type.String({
    description: `Value of the dimension: a campaign id, a country code, a day, …; \`${notSet}\` for rows without a value. A text above 256 bytes is its first characters, \`…\` and 32 hexadecimal digits of its SHA-256; filters take this form too. With several dimensions: their ids as a JSON array.`,
  }),
  name: label,
  dimensions: Type.Record(Type.String(), Type.Object({ id: Type.String(), name: label }), {
    description: 'Id and name of each dimension.',
  }),
  ...optionalMetricFields,
  ...optional({ previous: PreviousRow }),
})

export const ReportResponse = Named('Report', {
  groupBy: Type.String({ description: 'Same as `group_by` of the request.' }),
  from: Instant,
  to: Instant,
  ...optional({ tz: Type.String({ description: 'IANA time zone, if the request has `tz`.' }) }),
  currency: Currency,
  ...countAtField,
  data: Type.Array(ReportRow, {
    maxItems: reportBucketsMax,
    description: 'Ordered by `sort`, then by id.',
  }),
  totals: SelectedMetrics,
  ...previousTotals(SelectedMetrics),
  ...countedFrom,
  bucketCount: Type.Integer({
    description: 'Total number of buckets, including those beyond `limit` and before `offset`.',
  }),
  truncated: Type.Boolean({ description: 'Whether more buckets follow the rows of `data`.' }),
  next: NullableText(
    'Query of the next page, percent-encoded, without `?`: append it to the path. Every page is of the same ranges, whatever the time. Null on the last page and beyond the largest `offset`.',
  ),
  ...dataThrough,
  asOf: Instant,
})
export type ReportResponse = Static<typeof ReportResponse>
