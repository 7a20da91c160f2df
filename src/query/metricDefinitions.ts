import type { ListedMetric, Metric, ReportMetric } from '../../schema/metrics.ts'
import { isNamedMetric, metricNames } from '../../schema/metrics.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, name } from '../stores/clickhouse/sql.ts'
import type { RowTable } from './attributes.ts'

// A worked example: 4 clicks that cost 0.50 each, and 3 conversions: approved with 10, pending with 5, refunded with 3.
//
//   sums of clicks        clicks 4, cost 2; the cost of rows of costs is added
//   sums of conversions   conversions 1, revenue 10, pendingConversions 1, pendingRevenue 5,
//                         refundedConversions 1, refundedRevenue 3, holdConversions 0, declinedConversions 0
//   difference            profit = revenue - cost = 8
//   ratios in percent     roi = profit / cost = 400, cr = conversions / clicks = 25
//   other ratios          epc = revenue / clicks = 2.5, cpc = cost / clicks = 0.5,
//                         cpa = cost / conversions = 2, aov = revenue / conversions = 10
//
// Sums are added up over days and buckets; differences and ratios are computed from the added sums.

/**
 * How a metric is computed: a sum over the rows of some facts, a count of distinct visitors, of events or of their visitors, or derived
 * from other metrics, never from averages.
 */
export type Definition =
  | { kind: 'sum'; unit: keyof typeof zeros; ofRows: Partial<Record<RowTable, Fragment>> }
  | { kind: 'distinct'; unit: 'count' }
  | { kind: 'countOfEvents' | 'distinctOfEvents'; unit: 'count' }
  | { kind: 'difference'; minuend: Metric; subtrahend: Metric }
  | { kind: 'ratio'; numerator: Metric; denominator: Metric; times: 1 | 100 }

const zeros = { count: ch`toInt64(0)`, money: ch`toDecimal128(0, 6)` } as const

const sumOfCosts = ch`sum(toDecimal128(ifNull(cost_base, 0), 6))`

/** One line per metric; names and meanings are in `schema/metrics.ts`. */
export const metricDefinitions: Record<ListedMetric, Definition> = {
  clicks: { kind: 'sum', unit: 'count', ofRows: { clicks: ch`toInt64(count())` } },
  cost: { kind: 'sum', unit: 'money', ofRows: { clicks: sumOfCosts, costs: sumOfCosts } },
  conversions: countOf(ch`status = 'approved'`),
  revenue: revenueOf(ch`status = 'approved'`),
  pendingConversions: countOf(ch`status = 'pending'`),
  holdConversions: countOf(ch`status = 'hold'`),
  declinedConversions: countOf(ch`status = 'declined'`),
  refundedConversions: countOf(ch`status IN ('refunded', 'chargeback')`),
  pendingRevenue: revenueOf(ch`status IN ('pending', 'hold')`),
  refundedRevenue: revenueOf(ch`status IN ('refunded', 'chargeback')`),
  profit: { kind: 'difference', minuend: 'revenue', subtrahend: 'cost' },
  roi: ratioOf('profit', 'cost', 100),
  cr: ratioOf('conversions', 'clicks', 100),
  epc: ratioOf('revenue', 'clicks'),
  cpa: ratioOf('cost', 'conversions'),
  cpc: ratioOf('cost', 'clicks'),
  aov: ratioOf('revenue', 'conversions'),
  visitors: { kind: 'distinct', unit: 'count' },
  events: { kind: 'countOfEvents', unit: 'count' },
  eventVisitors: { kind: 'distinctOfEvents', unit: 'count' },
}

/** A metric of events of one name is defined as the metric of all events. */
export const definitionOf = (metric: ReportMetric): Definition =>
  metricDefinitions[metric.split(':')[0] as ListedMetric]
export const isOfEvents = (metric: ReportMetric): boolean => definitionOf(metric).kind.endsWith('OfEvents')

/** The name of a metric in a statement: a parameter if it has a name that a caller sent. */
export const aliasOf = (metric: ReportMetric) => (isNamedMetric(metric) ? ch`${name(metric)}` : identifier(metric))

function ratioOf(numerator: Metric, denominator: Metric, times: 1 | 100 = 1): Definition {
  return { kind: 'ratio', numerator, denominator, times }
}

function countOf(condition: Fragment): Definition {
  return { kind: 'sum', unit: 'count', ofRows: { conversions: ch`toInt64(countIf(${condition}))` } }
}

/** Revenue of conversions that match a condition on the status, in the account's currency. */
function revenueOf(condition: Fragment): Definition {
  const conversions = ch`sumIf(toDecimal128(ifNull(revenue_base, 0), 6), ${condition})`
  return { kind: 'sum', unit: 'money', ofRows: { conversions } }
}

/** @returns the sums that a metric is computed from */
export function operandsOf(metric: ReportMetric): ReportMetric[] {
  const definition = definitionOf(metric)
  if (definition.kind === 'ratio') return [definition.numerator, definition.denominator].flatMap(operandsOf)
  return definition.kind === 'difference' ? [definition.minuend, definition.subtrahend].flatMap(operandsOf) : [metric]
}

/** Conditions on the rows that metrics count. */
export const countedRows: Record<RowTable, readonly Fragment[]> = {
  clicks: [ch`NOT is_bot`, ch`NOT is_test`],
  conversions: [ch`NOT is_test`],
  costs: [],
}

/** The same on clicks by the parameter `bots`. */
export const countedClicks = {
  exclude: countedRows.clicks,
  only: [ch`is_bot`, ch`NOT is_test`],
  include: [ch`NOT is_test`],
}

export type SumMetric = Extract<Definition, { kind: 'sum' }> & { metric: Metric; name: string; column: Fragment }

/** Every metric that is a sum, in the order of the schema; each is a column of the sums tables. */
export const sumMetrics: readonly SumMetric[] = metricNames.flatMap((metric) => {
  const definition = metricDefinitions[metric]
  if (!('ofRows' in definition)) return []
  const name = columnName(metric)
  return [{ ...definition, metric, name, column: identifier(name) }]
})

/** The columns of all sums. */
export const sumColumns: Fragment = join(sumMetrics.map(({ column }) => column))

/** The select list of all sums over rows of a sums table. @param withConversions whether their sums are added up; otherwise they are zero */
export function addedSumColumns(withConversions: boolean): Fragment {
  return join(
    sumMetrics.map(({ unit, ofRows, column }) =>
      ofRows.conversions && !withConversions ? ch`${zeros[unit]} AS ${column}` : ch`sum(facts.${column}) AS ${column}`,
    ),
  )
}

/** The select list of all sums over the rows of one table; sums over other rows are zero. */
export function sumColumnsOf(table: RowTable | 'pixel_events'): Fragment {
  return join(
    sumMetrics.map(({ unit, ofRows, column }) => ch`${ofRows[table as RowTable] ?? zeros[unit]} AS ${column}`),
  )
}
