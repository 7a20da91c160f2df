import { type Static, type TNumber, type TObject, type TUnsafe, Type } from '@sinclair/typebox'

/**
 * Every number of stats and reports, in the order of their answers. The one list: a name added here does not compile
 * until `src/query/metrics.ts` says how to compute it.
 */
export const metricTexts = {
  clicks: 'Clicks that are neither bots nor tests.',
  conversions: 'Approved conversions.',
  revenue: 'Revenue of approved conversions, in the account currency.',
  pendingConversions: 'Conversions whose status is pending.',
  holdConversions: 'Conversions whose status is hold.',
  declinedConversions: 'Conversions whose status is declined.',
  refundedConversions: 'Conversions whose status is refunded or chargeback.',
  pendingRevenue: 'Revenue of pending and hold conversions.',
  refundedRevenue: 'Revenue of refunded and chargeback conversions.',
  cost: 'Cost of the clicks, in the account currency.',
  profit: 'revenue − cost.',
  roi: 'profit / cost × 100, percent; null without cost.',
  cr: 'conversions / clicks × 100, percent; null without clicks.',
  epc: 'revenue / clicks; null without clicks.',
  cpa: 'cost / conversions; null without conversions.',
  cpc: 'cost / clicks; null without clicks.',
  aov: 'revenue / conversions; null without conversions.',
} as const

export type Metric = keyof typeof metricTexts

export const metricNames = Object.keys(metricTexts) as Metric[]

/** A ratio is null when its denominator is zero; the other numbers are never null. */
const ratioNames = ['roi', 'cr', 'epc', 'cpa', 'cpc', 'aov'] as const satisfies readonly Metric[]
type Ratio = (typeof ratioNames)[number]

type MetricFields = { [Name in Metric]: Name extends Ratio ? TUnsafe<number | null> : TNumber }

/** The schema of every metric, ready to be spread into an answer. */
export const metricFields = Object.fromEntries(
  metricNames.map((name) => [
    name,
    (ratioNames as readonly Metric[]).includes(name)
      ? Type.Unsafe<number | null>({ type: ['number', 'null'], description: metricTexts[name] })
      : Type.Number({ description: metricTexts[name] }),
  ]),
) as MetricFields

export const Metrics: TObject<MetricFields> = Type.Object(metricFields)
export type Metrics = Static<typeof Metrics>
