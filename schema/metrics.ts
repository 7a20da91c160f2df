import { type Static, type TNumber, type TUnsafe, Type } from '@sinclair/typebox'
import { optional } from './scalars.ts'

/**
 * Every metric of stats and reports, in response order. A name added here does not compile until `src/query/metricDefinitions.ts`
 * defines how to compute it.
 */
export const metricTexts = {
  clicks: 'Clicks, without bots and tests.',
  conversions: 'Approved conversions.',
  revenue: 'Revenue of approved conversions, in the account currency.',
  pendingConversions: 'Conversions with status pending.',
  holdConversions: 'Conversions with status hold.',
  declinedConversions: 'Conversions with status declined.',
  refundedConversions: 'Conversions with status refunded or chargeback.',
  pendingRevenue: 'Revenue of conversions with status pending or hold.',
  refundedRevenue: 'Revenue of conversions with status refunded or chargeback.',
  cost: 'Cost of clicks and of rows of `GET /costs`, in the account currency.',
  profit: 'revenue − cost.',
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
 * Metrics of a report. Visitors are distinct, so they cannot be added up over rows: they are read from rows, and only when a
 * request names them.
 */
export const reportMetricTexts = {
  ...metricTexts,
  visitors: 'Distinct visitors of the clicks; a click without a visitor counts as one.',
} as const
export type ReportMetric = keyof typeof reportMetricTexts

export const reportMetricNames = Object.keys(reportMetricTexts) as ReportMetric[]

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

/** The same for responses in which a request can select the metrics. */
export const optionalMetricFields = optional({
  ...metricFields,
  visitors: Type.Integer({
    description:
      'Only if `metrics` names it: distinct visitors of the clicks; a click without a visitor counts as one. Totals are distinct over all rows, not a sum.',
  }),
})

export const SelectedMetrics = Type.Object(optionalMetricFields, {
  $id: 'SelectedMetrics',
  description: 'All metrics, or the metrics of the parameter `metrics`.',
})
