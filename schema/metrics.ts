import { type Static, type TNumber, type TUnsafe, Type } from '@sinclair/typebox'
import { eventNamePattern } from './event.ts'
import { optional } from './scalars.ts'

/**
 * Every metric of stats and reports, in response order. A name added here does not compile until `src/query/metricDefinitions.ts`
 * defines how to compute it.
 */
export const metricTexts = {
  clicks: 'Clicks. Clicks of bots count only with `bots`; test clicks never count.',
  conversions: 'Approved conversions.',
  revenue: 'Revenue of approved conversions, in the account currency.',
  pendingConversions: 'Conversions with status pending.',
  holdConversions: 'Conversions with status hold.',
  declinedConversions: 'Conversions with status declined.',
  refundedConversions: 'Conversions with status refunded or chargeback.',
  pendingRevenue: 'Revenue of conversions with status pending or hold.',
  refundedRevenue: 'Revenue of conversions with status refunded or chargeback.',
  cost: 'Cost of clicks and of rows of `GET /costs`, in the account currency. The cost of bots counts only with `bots`.',
  profit: 'revenue − cost. The cost of bots counts only with `bots`.',
  roi: 'profit / cost × 100, percent; null if cost is 0.',
  cr: 'conversions / clicks × 100, percent; null if clicks is 0.',
  epc: 'revenue / clicks; null if clicks is 0.',
  cpa: 'cost / conversions; null if conversions is 0.',
  cpc: 'cost / clicks; null if clicks is 0.',
  aov: 'revenue / conversions; null if conversions is 0.',
} as const

export type Metric = keyof typeof metricTexts

export const metricNames = Object.keys(metricTexts) as Metric[]

/**
 * Metrics of a report. Distinct visitors cannot be added up over rows, and no table has sums of events: these are read from rows, and
 * only when a request names them.
 */
export const reportMetricTexts = {
  ...metricTexts,
  visitors: 'Distinct visitors of the clicks; a click without a visitor counts as one.',
  events:
    'Events of your server and of the pixel; `events:signup` counts the events named `signup`. Events of clicks of bots count only with `bots`; events of test clicks never count.',
  eventVisitors:
    'Distinct visitors of these events: of the event, else of its click, else the click; also `eventVisitors:signup`.',
} as const
/** A metric that is not of events of one name. */
export type ListedMetric = keyof typeof reportMetricTexts
/** A metric of the events of one name. */
export type NamedMetric = `events:${string}` | `eventVisitors:${string}`
export type ReportMetric = ListedMetric | NamedMetric

export const reportMetricNames = Object.keys(reportMetricTexts) as ListedMetric[]

const namedMetric = `(events|eventVisitors):${eventNamePattern.slice(1, -1)}`
export const namedMetricPattern = `^${namedMetric}$`
export const namedSortPattern = `^-?(change[.])?${namedMetric}$`
/** Metrics of events of one name that a request may have. */
export const namedMetricsMax = 5
const namedMetrics = new RegExp(namedMetricPattern)
export const isNamedMetric = (name: unknown): name is NamedMetric => typeof name === 'string' && namedMetrics.test(name)

/** A ratio is null when its denominator is zero; the other metrics are never null. */
const ratioNames = ['roi', 'cr', 'epc', 'cpa', 'cpc', 'aov'] as const satisfies readonly Metric[]
type Ratio = (typeof ratioNames)[number]

type MetricFields = { [Name in Metric]: Name extends Ratio ? TUnsafe<number | null> : TNumber }

/** The schema of every metric, to spread into a response schema. */
export const metricFields = Object.fromEntries(
  metricNames.map((name) => [
    name,
    (ratioNames as readonly Metric[]).includes(name)
      ? Type.Unsafe<number | null>({ type: ['number', 'null'], description: metricTexts[name] })
      : Type.Number({ description: metricTexts[name] }),
  ]),
) as MetricFields

/** A key that sees a part of the account may lack some. The static type has all of them. */
export const seenMetricFields = optional(metricFields) as unknown as MetricFields

export const Metrics = Type.Object(seenMetricFields, {
  $id: 'Metrics',
  description: 'All metrics; a key that sees a part of the account may lack some.',
})
export type Metrics = Static<typeof Metrics>

const onlyIfNamed = (name: 'visitors' | 'events' | 'eventVisitors') =>
  Type.Integer({
    description: `Only if \`metrics\` names it. ${reportMetricTexts[name]}${name === 'events' ? '' : ' Totals are distinct over all rows, not a sum.'}`,
  })

/** The same for responses in which a request can select the metrics. */
export const optionalMetricFields = optional({
  ...metricFields,
  visitors: onlyIfNamed('visitors'),
  events: onlyIfNamed('events'),
  eventVisitors: onlyIfNamed('eventVisitors'),
})

export const SelectedMetrics = Type.Object(optionalMetricFields, {
  $id: 'SelectedMetrics',
  description: 'All metrics, or the metrics of the parameter `metrics`, such as `events:signup`.',
})
