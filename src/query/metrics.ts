import type { Metric } from '../../schema/metrics.ts'
import { metricNames } from '../../schema/metrics.ts'
import { ch, type Fragment, identifier, join } from '../stores/clickhouse/sql.ts'
import { difference, fromMillionths, type Millionths, millionthsOf, ratio } from './ratio.ts'

/** How a number is computed: a sum over clicks, a sum over conversions, or what follows from sums, never from averages. */
type Definition =
  | { kind: RowKind; unit: keyof typeof zeros; ofRows: Fragment }
  | { kind: 'derived'; of: (sum: (metric: Metric) => Millionths) => number | null }

/** The rows that sums are made of. */
export type RowKind = 'clicks' | 'conversions'

const zeros = { count: ch`toInt64(0)`, money: ch`toDecimal128(0, 6)` } as const

/** One line a metric; its name and meaning stand in `schema/metrics.ts`. */
const definitions: Record<Metric, Definition> = {
  clicks: { kind: 'clicks', unit: 'count', ofRows: ch`toInt64(count())` },
  cost: { kind: 'clicks', unit: 'money', ofRows: ch`sum(toDecimal128(ifNull(cost_base, 0), 6))` },
  conversions: countOf(ch`status = 'approved'`),
  revenue: revenueOf(ch`status = 'approved'`),
  pendingConversions: countOf(ch`status = 'pending'`),
  holdConversions: countOf(ch`status = 'hold'`),
  declinedConversions: countOf(ch`status = 'declined'`),
  refundedConversions: countOf(ch`status IN ('refunded', 'chargeback')`),
  pendingRevenue: revenueOf(ch`status IN ('pending', 'hold')`),
  refundedRevenue: revenueOf(ch`status IN ('refunded', 'chargeback')`),
  profit: { kind: 'derived', of: (sum) => fromMillionths(difference(sum('revenue'), sum('cost'))) },
  roi: { kind: 'derived', of: (sum) => ratio(difference(sum('revenue'), sum('cost')), sum('cost'), 100) },
  cr: { kind: 'derived', of: (sum) => ratio(sum('conversions'), sum('clicks'), 100) },
  epc: { kind: 'derived', of: (sum) => ratio(sum('revenue'), sum('clicks'), 1) },
  cpa: { kind: 'derived', of: (sum) => ratio(sum('cost'), sum('conversions'), 1) },
  cpc: { kind: 'derived', of: (sum) => ratio(sum('cost'), sum('clicks'), 1) },
  aov: { kind: 'derived', of: (sum) => ratio(sum('revenue'), sum('conversions'), 1) },
}

/** Conversions in a state that the condition names. */
function countOf(condition: Fragment): Definition {
  return { kind: 'conversions', unit: 'count', ofRows: ch`toInt64(countIf(${condition}))` }
}

/** What conversions in a state brought, in the account's currency. */
function revenueOf(condition: Fragment): Definition {
  const ofRows = ch`sumIf(toDecimal128(ifNull(revenue_base, 0), 6), ${condition})`
  return { kind: 'conversions', unit: 'money', ofRows }
}

/** A metric that is a sum, and its column wherever sums are kept. */
export type Sum = Exclude<Definition, { kind: 'derived' }> & { metric: Metric; name: string; column: Fragment }

/** Every sum, in the order of the schema; each is a column of the sums tables. */
export const sums: readonly Sum[] = metricNames.flatMap((metric) => {
  const definition = definitions[metric]
  if (definition.kind === 'derived') return []
  const name = metric.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [{ ...definition, metric, name, column: identifier(name) }]
})

/** The columns of all sums. */
export const sumColumns: Fragment = join(
  sums.map(({ column }) => column),
  ', ',
)

/** The select list that makes all sums of rows of one kind: what those have nothing to say of is zero. */
export function sumsOf(rows: RowKind): Fragment {
  return join(
    sums.map(({ kind, unit, ofRows, column }) => ch`${kind === rows ? ofRows : zeros[unit]} AS ${column}`),
    ', ',
  )
}

/** The select list of an answer: every sum by its metric's name, over sums that are called `facts`. */
export const selectedSums: Fragment = join(
  // TRAP: without its table, `clicks` would be taken for the alias of the sum.
  sums.map(({ metric, column }) => ch`sum(facts.${column}) AS ${identifier(metric)}`),
  ',\n  ',
)

/** Whether anything was counted for a bucket of an answer. Changes and repairs leave cells of zero, which are no buckets. */
export const isBucket: Fragment = join(
  sums.filter(({ unit }) => unit === 'count').map(({ metric }) => ch`${identifier(metric)} != 0`),
  ' OR ',
)

/** Sums as ClickHouse sends them: counts as numbers, decimals as text, which no JSON number could hold. */
export type SumTexts = Partial<Record<Metric, string | number>>

/** @returns the metrics as they leave us, in the order of the schema; what follows from sums is computed here */
export function toMetrics(row: SumTexts): Record<Metric, number> & { [Name in Metric]: never } {
  const sum = (name: Metric) => millionthsOf(row[name] ?? 0)
  return Object.fromEntries(
    metricNames.map((name) => {
      const definition = definitions[name]
      return [name, definition.kind === 'derived' ? definition.of(sum) : Number(row[name] ?? 0)]
    }),
  ) as never
}
