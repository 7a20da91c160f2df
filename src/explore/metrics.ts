import type { components } from '../packages/client/api.ts'

export type Metric = keyof components['schemas']['Metrics']

/** Reports also count visitors, and events, which the page does not show. */
export type SelectedMetric = Exclude<keyof components['schemas']['SelectedMetrics'], 'events' | 'eventVisitors'>

/**
 * `count` and `amount` are sums, the others are ratios. All but `count` and `percent` are in the currency of the account; a `rate`
 * is small and has more decimals.
 */
export type MetricKind = 'count' | 'amount' | 'price' | 'rate' | 'percent'

/** Label and format of every metric, in the order of selections. */
export const metrics: Readonly<Record<SelectedMetric, { label: string; kind: MetricKind }>> = {
  clicks: { label: 'Clicks', kind: 'count' },
  conversions: { label: 'Approved conversions', kind: 'count' },
  revenue: { label: 'Revenue', kind: 'amount' },
  cost: { label: 'Cost', kind: 'amount' },
  profit: { label: 'Profit', kind: 'amount' },
  roi: { label: 'ROI', kind: 'percent' },
  cr: { label: 'Conversion rate', kind: 'percent' },
  epc: { label: 'EPC', kind: 'rate' },
  cpa: { label: 'CPA', kind: 'price' },
  cpc: { label: 'CPC', kind: 'rate' },
  aov: { label: 'AOV', kind: 'price' },
  pendingConversions: { label: 'Pending conversions', kind: 'count' },
  holdConversions: { label: 'Conversions on hold', kind: 'count' },
  declinedConversions: { label: 'Declined conversions', kind: 'count' },
  refundedConversions: { label: 'Refunded conversions', kind: 'count' },
  pendingRevenue: { label: 'Pending revenue', kind: 'amount' },
  refundedRevenue: { label: 'Refunded revenue', kind: 'amount' },
  visitors: { label: 'Visitors', kind: 'count' },
}

/** Whether any metric is other than zero. */
export const hasNumbers = (values: Partial<Record<Metric, number | null | undefined>> | null | undefined): boolean =>
  metricNames.some((name) => values?.[name])

export const columnNames = Object.keys(metrics) as SelectedMetric[]

export const metricNames = columnNames.filter((name): name is Metric => name !== 'visitors')

export const cardMetrics: readonly Metric[] = ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'roi', 'epc']

export const isSum = (name: SelectedMetric): boolean => ['count', 'amount'].includes(metrics[name].kind)

/** The unit of a metric: conversions, or money in all, per click or per conversion. Clicks and percentages have their own units. */
function unitOf(name: Metric): string {
  const { kind } = metrics[name]
  return kind === 'count' || kind === 'percent' ? name.replace(/^\w+Conversions$/, 'conversions') : kind
}

/** The metrics of each axis of a chart: metrics with the same unit share one, so that their lines can be compared. */
export function axesOf(drawn: readonly Metric[]): { kind: MetricKind; names: Metric[] }[] {
  const axes = new Map(drawn.map((name) => [unitOf(name), { kind: metrics[name].kind, names: [] as Metric[] }]))
  for (const name of new Set(drawn)) axes.get(unitOf(name))?.names.push(name)
  return [...axes.values()]
}

/** Whether a metric is computed from costs. */
export const isOfCost = (name: Metric): boolean => ['cost', 'profit', 'roi', 'cpa', 'cpc'].includes(name)

/** Whether less of a metric is better. */
export const isCost = (name: SelectedMetric): boolean => /^(cost|cpa|cpc|declined|refunded)/.test(name)

/** Conversions and their money by status. */
export const statusColumns: readonly SelectedMetric[] = columnNames.filter((name) => /onversions$|evenue$/.test(name))

export const columnsDefault: readonly SelectedMetric[] = columnNames.slice(0, columnNames.indexOf('epc') + 1)
