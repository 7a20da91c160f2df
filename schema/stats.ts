import { type Static, Type } from '@sinclair/typebox'
import { comparedRange, compareParameters, previousTotals } from './comparison.ts'
import { conversionFilterParameters } from './conversion.ts'
import { countAtField, countParameters } from './countAt.ts'
import { dataThrough } from './dataThrough.ts'
import { filterParameters, filterTreeParameter, namesInTree } from './filters.ts'
import { Metrics, seenMetricFields } from './metrics.ts'
import { countedFrom } from './page.ts'
import { daysParameter, localRangeParameters, timeZoneParameter } from './range.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Instant, Named, NullableText, OneOf, optional } from './scalars.ts'

export const StatsQuery = Type.Object({
  ...daysParameter(90),
  ...localRangeParameters,
  ...timeZoneParameter,
  ...filterParameters,
  ...conversionFilterParameters,
  ...filterTreeParameter(namesInTree.facts),
  ...compareParameters,
  ...countParameters,
})
export type StatsQuery = Static<typeof StatsQuery>

export const intervals = ['hour', 'day', 'week', 'month'] as const

/** The series also has an interval and CSV. */
export const DailyQuery = Type.Object({
  ...StatsQuery.properties,
  ...optional({ interval: OneOf(intervals, { default: 'day', description: 'Unit of time of a row, in `tz`.' }) }),
  ...formatParameter(tableFormats),
})
export type DailyQuery = Static<typeof DailyQuery>

/** Fields of both responses: time range, time zone and currency. */
const rangeFields = {
  from: Instant,
  to: Instant,
  tz: Type.String({ description: 'IANA time zone of the days.' }),
  currency: Currency,
  ...countAtField,
}

const resourceCount = (name: string) =>
  Type.Integer({ description: `Current number of ${name} that are not archived.` })

export const StatsOverview = Named('StatsOverview', {
  ...rangeFields,
  totals: Metrics,
  ...previousTotals(Metrics),
  ...optional({
    lateConversions: Type.Integer({
      description: 'With `count_at=click`: how many of `conversions` of `totals` converted at `to` or later.',
    }),
    resources: Type.Object({
      campaigns: resourceCount('campaigns'),
      offers: resourceCount('offers'),
      landingPages: resourceCount('landing pages'),
      trafficSources: resourceCount('traffic sources'),
    }),
  }),
  ...countedFrom,
  ...dataThrough,
  asOf: Instant,
})
export type StatsOverview = Static<typeof StatsOverview>

const StatsDay = Named('StatsDay', {
  id: Type.String({
    description:
      'Date of the local day; with `interval`: the local time of an hour with its UTC offset, the Monday of a week, the first day of a month.',
    examples: ['2026-11-20', '2026-11-20T14:00+05:30'],
  }),
  date: Type.String({ format: 'date', description: 'Local date on which the row starts.' }),
  complete: Type.Boolean({
    description:
      'Whether the time range includes all of it, it is over, and none of its rows are removed (`retainedFrom`). Its metrics can still change when a conversion is approved or refunded later.',
  }),
  ...seenMetricFields,
  ...optional({
    previous: Type.Object(
      {
        id: NullableText('Id of the row in the other range; null if it has none, for example of 29 February.'),
        ...seenMetricFields,
      },
      { description: 'With `compare` or `compare_from`: the same unit of time in the other range.' },
    ),
  }),
})

export const StatsDaily = Named('StatsDaily', {
  ...rangeFields,
  data: Type.Array(StatsDay, {
    description: 'Every local day, or every `interval`, oldest first, including those without clicks.',
  }),
  ...optional({
    previous: Type.Object(comparedRange, { description: 'With `compare` or `compare_from`: the other range.' }),
  }),
  ...countedFrom,
  ...dataThrough,
  asOf: Instant,
})
export type StatsDaily = Static<typeof StatsDaily>
