import type { Metric } from '../schema/metrics.ts'
import { metricNames } from '../schema/metrics.ts'
import { difference, fromMillionths, type Millionths, millionthsOf, ratio } from './ratio.ts'
import { ch, type Fragment, identifier, join } from './sql/fragment.ts'

/**
 * How a number is computed. Three kinds: a sum over clicks (from a rollup's columns, and from raw rows where a range
 * cuts a day), a sum over conversions, and what follows from other sums. Ratios come from sums, never from averages.
 */
type Definition =
  | { kind: 'clicks'; rollup: Fragment; raw: Fragment; zero: Fragment }
  | { kind: 'conversions'; sum: Fragment; zero: Fragment }
  | { kind: 'derived'; of: (sum: (metric: Metric) => Millionths) => number | null }

const zeroCount = ch`toInt64(0)`
const zeroMoney = ch`toDecimal128(0, 6)`

/** One line a metric; its name and meaning stand in `schema/metrics.ts`. */
const definitions: Record<Metric, Definition> = {
  clicks: { kind: 'clicks', rollup: ch`sum(rollup.clicks)`, raw: ch`toInt64(count())`, zero: zeroCount },
  cost: {
    kind: 'clicks',
    rollup: ch`sum(rollup.cost)`,
    raw: ch`sum(toDecimal128(ifNull(cost_base, 0), 6))`,
    zero: zeroMoney,
  },
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
  return { kind: 'conversions', sum: ch`toInt64(countIf(${condition}))`, zero: zeroCount }
}

/** What conversions in a state brought, in the account's currency. */
function revenueOf(condition: Fragment): Definition {
  return {
    kind: 'conversions',
    sum: ch`sumIf(toDecimal128(ifNull(revenue_base, 0), 6), ${condition})`,
    zero: zeroMoney,
  }
}

/**
 * Where facts are read: a rollup, raw clicks, or conversions; nowhere gives zeros, for groups that have to be there.
 * TRAP: a rollup must be called `rollup` in its FROM: a bare `clicks` would be taken for the alias of the sum.
 */
export type FactSource = 'rollup' | 'clicks' | 'conversions' | 'nowhere'

/**
 * The select list of one source: every summed metric under its own name, zero where the source has nothing to say,
 * so that the sources can be put together by UNION ALL and summed again by `sumColumns`.
 */
export function factColumns(source: FactSource): Fragment {
  return join(
    metricNames.flatMap((name) => {
      const definition = definitions[name]
      return definition.kind === 'derived' ? [] : [ch`${factOf(definition, source)} AS ${identifier(name)}`]
    }),
    ', ',
  )
}

function factOf(definition: Exclude<Definition, { kind: 'derived' }>, source: FactSource): Fragment {
  if (definition.kind === 'conversions') return source === 'conversions' ? definition.sum : definition.zero
  if (source === 'rollup') return definition.rollup
  return source === 'clicks' ? definition.raw : definition.zero
}

/** The select list of an answer: every sum, over facts that are called `facts`. */
export const sumColumns: Fragment = join(
  metricNames.flatMap((name) =>
    definitions[name].kind === 'derived' ? [] : [ch`sum(facts.${identifier(name)}) AS ${identifier(name)}`],
  ),
  ',\n  ',
)

/** Sums as ClickHouse sends them: counts as numbers, decimals as text, which no JSON number could hold. */
export type SumTexts = Partial<Record<Metric, string | number>>

/** @returns the metrics as they leave us, in the order of the schema; what follows from sums is computed here */
export function toMetrics(row: SumTexts): Record<Metric, number> & { [Name in Metric]: never } {
  const sum = (name: Metric) => millionthsOf(row[name] ?? 0)
  return Object.fromEntries(
    metricNames.map((name) => {
      const definition = definitions[name]
      return [name, definition.kind === 'derived' ? definition.of(sum) : Number(row[name])]
    }),
  ) as never
}
