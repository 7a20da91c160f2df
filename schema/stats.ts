import { type Static, Type } from '@sinclair/typebox'
import { Metrics, metricFields } from './metrics.ts'
import { formatParameter, tableFormats } from './rowFormat.ts'
import { Currency, Id, Instant } from './scalars.ts'

export const statsDaysDefault = 30
const statsDaysMax = 90

export const StatsQuery = Type.Object(
  {
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: statsDaysMax,
        default: statsDaysDefault,
        description: 'Number of days in `tz`, up to and including today.',
      }),
    ),
    tz: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        default: 'UTC',
        description: 'IANA time zone of the days.',
        examples: ['Asia/Kolkata'],
      }),
    ),
    campaign_id: Type.Optional(Type.String({ ...Id, description: 'Only clicks and conversions of this campaign.' })),
  },
  { additionalProperties: false },
)
export type StatsQuery = Static<typeof StatsQuery>

/** The daily series also has CSV. */
export const DailyQuery = Type.Object(
  { ...StatsQuery.properties, ...formatParameter(tableFormats) },
  { additionalProperties: false },
)

/** Fields of both responses: time range, time zone and currency. */
const rangeFields = {
  from: Instant,
  to: Instant,
  tz: Type.String({ description: 'IANA time zone of the days.' }),
  currency: Currency,
}

const resourceCount = (name: string) =>
  Type.Integer({ description: `Current number of ${name} that are not archived.` })

export const StatsOverview = Type.Object({
  ...rangeFields,
  totals: Metrics,
  resources: Type.Object({
    campaigns: resourceCount('campaigns'),
    offers: resourceCount('offers'),
    landingPages: resourceCount('landing pages'),
    trafficSources: resourceCount('traffic sources'),
  }),
  asOf: Instant,
})
export type StatsOverview = Static<typeof StatsOverview>

export const StatsDay = Type.Object({
  id: Type.String({ format: 'date', description: 'Date of the local day.' }),
  date: Type.String({ format: 'date', description: 'Same as `id`.' }),
  complete: Type.Boolean({
    description:
      'Whether the day is over. Its metrics can still change when a conversion is approved or refunded later.',
  }),
  ...metricFields,
})

export const StatsDaily = Type.Object({
  ...rangeFields,
  data: Type.Array(StatsDay, { description: 'Every local day, oldest first, including days without clicks.' }),
  asOf: Instant,
})
export type StatsDaily = Static<typeof StatsDaily>
