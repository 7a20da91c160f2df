import type { components } from '../packages/client/api.ts'

export type Metric = keyof components['schemas']['Metrics']

/** Reports also count visitors. */
export type Column = keyof components['schemas']['SelectedMetrics']

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
  cpa: { label: 'CPA', kind: 'amount' },
  cpc: { label: 'CPC', kind: 'rate' },
  aov: { label: 'AOV', kind: 'amount' },
  pendingConversions: { label: 'Pending conversions', kind: 'count' },
  holdConversions: { label: 'Conversions on hold', kind: 'count' },
  declinedConversions: { label: 'Declined conversions', kind: 'count' },
  refundedConversions: { label: 'Refunded conversions', kind: 'count' },
  pendingRevenue: { label: 'Pending revenue', kind: 'amount' },
  refundedRevenue: { label: 'Refunded revenue', kind: 'amount' },
}

/** Whether any metric is other than zero. */
export function hasNumbers(values: Partial<Record<Metric, number | null>> | undefined): boolean {
  return metricNames.some((name) => values?.[name])
}

export const metricNames = Object.keys(metrics) as Metric[]

export const cardMetrics = ['clicks', 'conversions', 'revenue', 'profit', 'roi', 'epc'] as const satisfies Metric[]

/** Label and format of every metric of a report. */
export const columns: Readonly<Record<Column, { label: string; kind: MetricKind }>> = {
  ...metrics,
  visitors: { label: 'Visitors', kind: 'count' },
}

export const columnNames = Object.keys(columns) as Column[]

export const columnsDefault: readonly Column[] = [
  'clicks',
  'conversions',
  'revenue',
  'cost',
  'profit',
  'roi',
  'cr',
  'epc',
]
