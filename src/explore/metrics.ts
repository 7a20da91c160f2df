import type { components } from '../packages/client/api.ts'

export type Metric = keyof components['schemas']['Metrics']

/** How a metric is formatted: `amount` and `rate` are in the currency of the account; a rate is small and has more decimals. */
export type MetricKind = 'count' | 'amount' | 'rate' | 'percent'

/** Label and format of every metric, in the order of selections. */
export const metrics: Readonly<Record<Metric, { label: string; kind: MetricKind }>> = {
  clicks: { label: 'Clicks', kind: 'count' },
  conversions: { label: 'Conversions', kind: 'count' },
  revenue: { label: 'Revenue', kind: 'amount' },
  cost: { label: 'Cost', kind: 'amount' },
  profit: { label: 'Profit', kind: 'amount' },
  roi: { label: 'ROI', kind: 'percent' },
  cr: { label: 'CR', kind: 'percent' },
  epc: { label: 'EPC', kind: 'rate' },
  cpa: { label: 'CPA', kind: 'rate' },
  cpc: { label: 'CPC', kind: 'rate' },
  aov: { label: 'AOV', kind: 'rate' },
  pendingConversions: { label: 'Pending conversions', kind: 'count' },
  holdConversions: { label: 'Conversions on hold', kind: 'count' },
  declinedConversions: { label: 'Declined conversions', kind: 'count' },
  refundedConversions: { label: 'Refunded conversions', kind: 'count' },
  pendingRevenue: { label: 'Pending revenue', kind: 'amount' },
  refundedRevenue: { label: 'Refunded revenue', kind: 'amount' },
}

export const metricNames = Object.keys(metrics) as Metric[]

export const cardMetrics = ['clicks', 'conversions', 'revenue', 'profit', 'roi', 'epc'] as const satisfies Metric[]

export const tableMetrics: Metric[] = ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'roi', 'cr', 'epc']
