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
        description: 'The last so many days in `tz`, today included.',
      }),
    ),
    tz: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        default: 'UTC',
        description: 'IANA time zone that days are cut in.',
        examples: ['Asia/Kolkata'],
      }),
    ),
    campaign_id: Type.Optional(Type.String({ ...Id, description: 'Only clicks and conversions of this campaign.' })),
  },
  { additionalProperties: false },
)
export type StatsQuery = Static<typeof StatsQuery>

/** The daily series leaves as CSV too. */
export const DailyQuery = Type.Object(
  { ...StatsQuery.properties, ...formatParameter(tableFormats) },
  { additionalProperties: false },
)

/** What both answers say of the window they are about. */
const windowFields = {
  from: Instant,
  to: Instant,
  tz: Type.String({ description: 'The time zone that days were cut in.' }),
  currency: Currency,
}

const resourceCount = (what: string) => Type.Integer({ description: `${what} that are not archived, now.` })

export const StatsOverview = Type.Object({
  ...windowFields,
  totals: Metrics,
  resources: Type.Object({
    campaigns: resourceCount('Campaigns'),
    offers: resourceCount('Offers'),
    landingPages: resourceCount('Landing pages'),
    trafficSources: resourceCount('Traffic sources'),
  }),
  asOf: Instant,
})
export type StatsOverview = Static<typeof StatsOverview>

export const StatsDay = Type.Object({
  id: Type.String({ format: 'date', description: 'The local day.' }),
  date: Type.String({ format: 'date', description: 'The same.' }),
  complete: Type.Boolean({
    description: 'Whether the day is over; its numbers still change when a conversion is approved or refunded late.',
  }),
  ...metricFields,
})

export const StatsDaily = Type.Object({
  ...windowFields,
  data: Type.Array(StatsDay, { description: 'Every local day, oldest first, days without a click too.' }),
  asOf: Instant,
})
export type StatsDaily = Static<typeof StatsDaily>
