import type { Metric } from '../../schema/metrics.ts'
import { metricNames } from '../../schema/metrics.ts'
import { ch, type Fragment, identifier, integer, join } from '../stores/clickhouse/sql.ts'
import { metricDefinitions, type Sum, sums } from './metricDefinitions.ts'
import { add, difference, formatMillionths, fromMillionths, type Millionths, millionthsOf } from './money.ts'
import { ratio, ratioMillionths } from './ratio.ts'

// Evaluates `metricDefinitions`: in SQL for lists that ClickHouse orders, else in Node, exactly.

/**
 * The select list of a result, from sums with the alias `facts`: every sum under its metric's name, or only those that some
 * metrics are computed from. Counts are always included, since `isBucket` needs them.
 */
export function selectedSums(metrics: readonly Metric[] = metricNames): Fragment {
  const wanted = new Set(metrics.flatMap(operandsOf))
  return join(
    sums
      .filter(({ metric, unit }) => unit === 'count' || wanted.has(metric))
      // TRAP: without the table name, ClickHouse resolves `clicks` to the alias of the sum.
      .map(({ metric, column }) => ch`sum(facts.${column}) AS ${identifier(metric)}`),
    ',\n  ',
  )
}

/** @returns the sums that a metric is computed from */
function operandsOf(metric: Metric): Metric[] {
  const definition = metricDefinitions[metric]
  if (definition.kind === 'ratio') return [definition.numerator, definition.denominator].flatMap(operandsOf)
  return definition.kind === 'difference' ? [definition.minuend, definition.subtrahend].flatMap(operandsOf) : [metric]
}

const countNames = sums.filter(({ unit }) => unit === 'count').map(({ metric }) => metric)

/** Condition: the bucket counts at least one row. Changes and repairs leave rows of zeros, which are not buckets. */
export const isBucket: Fragment = join(
  countNames.map((metric) => ch`${identifier(metric)} != 0`),
  ' OR ',
)

/** Whether the row is a bucket, like `isBucket`. */
export function countsRows(row: SumTexts): boolean {
  return countNames.some((metric) => Number(row[metric] ?? 0) !== 0)
}

/** Sums as ClickHouse returns them: counts as numbers, decimals as text, since JSON numbers would round them. */
export type SumTexts = Partial<Record<Metric, string | number>>

/**
 * The value of a metric for ORDER BY, in a SELECT with `selectedSums`: ordered as the response shows it, and NULL for a null
 * ratio.
 */
export function orderValue(metric: Metric): Fragment {
  const definition = metricDefinitions[metric]
  if (definition.kind === 'ratio') {
    const [n, d] = [millionthsSql(definition.numerator), millionthsSql(definition.denominator)]
    // Rounded to six decimals, half away from zero, like `ratio`; the denominator is a count or an amount.
    const doubled = ch`2 * abs(${n}) * ${integer(definition.times * 1_000_000)} + abs(${d})`
    return ch`if(${d} = 0, NULL, sign(${n}) * sign(${d}) * intDivOrZero(${doubled}, 2 * abs(${d})))`
  }
  return definition.kind === 'difference' ? millionthsSql(metric) : identifier(metric)
}

/** The value of a metric by which rows are ordered, like `orderValue`. @returns millionths, null for a null ratio */
export function readOrderValue(metric: Metric, row: SumTexts): Millionths | null {
  const definition = metricDefinitions[metric]
  if (definition.kind !== 'ratio') return readMillionths(metric, row)
  const { numerator, denominator, times } = definition
  return ratioMillionths(readMillionths(numerator, row), readMillionths(denominator, row), times)
}

/** The exact value of a metric that is not a ratio. */
function readMillionths(metric: Metric, row: SumTexts): Millionths {
  const definition = metricDefinitions[metric]
  if (definition.kind !== 'difference') return millionthsOf(row[metric] ?? 0)
  return difference(readMillionths(definition.minuend, row), readMillionths(definition.subtrahend, row))
}

/** Adds sums exactly. @returns zeros for no rows */
export function addSums(rows: readonly SumTexts[]): SumTexts {
  const total = ({ metric }: Sum) => {
    const value = rows.reduce<Millionths>((sum, row) => add(sum, millionthsOf(row[metric] ?? 0)), 0)
    return [metric, formatMillionths(BigInt(value))]
  }
  return Object.fromEntries(sums.map(total)) as SumTexts
}

/** A metric that is not a ratio, in millionths. */
function millionthsSql(metric: Metric): Fragment {
  const definition = metricDefinitions[metric]
  if (definition.kind === 'difference') {
    return ch`(${millionthsSql(definition.minuend)} - ${millionthsSql(definition.subtrahend)})`
  }
  return ch`toInt256(toDecimal256(${identifier(metric)}, 6) * 1000000)`
}

/** Values of metrics in a response: ratios may be null. */
export type MetricValues = Record<Metric, number> & { [Name in Metric]: never }

/** Exact values of the metrics that are not ratios, in millionths, at the positions of `metricNames`. */
type Exact = Millionths[]

const positionOf = (metric: Metric) => metricNames.indexOf(metric)
const summed = sums.map(({ metric }) => ({ metric, position: positionOf(metric) }))
const differences = metricNames.flatMap((metric) => {
  const definition = metricDefinitions[metric]
  if (definition.kind !== 'difference') return []
  const { minuend, subtrahend } = definition
  return [{ position: positionOf(metric), minuend: positionOf(minuend), subtrahend: positionOf(subtrahend) }]
})

/** How the value of each metric in a response is computed: with positions, which take a third less time than names. */
const computations = Object.fromEntries(metricNames.map((metric) => [metric, computationOf(metric)])) as Record<
  Metric,
  (row: SumTexts, exact: Exact) => number | null
>

function computationOf(metric: Metric): (row: SumTexts, exact: Exact) => number | null {
  const definition = metricDefinitions[metric]
  if (definition.kind === 'difference') {
    const position = positionOf(metric)
    return (_row, exact) => fromMillionths(exact[position] as Millionths)
  }
  if (definition.kind !== 'ratio') return (row) => Number(row[metric] ?? 0)
  const [numerator, denominator] = [positionOf(definition.numerator), positionOf(definition.denominator)]
  const { times } = definition
  return (_row, exact) => ratio(exact[numerator] as Millionths, exact[denominator] as Millionths, times)
}

/**
 * Computes the metrics of a response from sums.
 * @param names in the order of the schema
 */
export function toMetrics(row: SumTexts, names: readonly Metric[] = metricNames): MetricValues {
  const metrics = {} as MetricValues
  setMetrics(metrics, row, names)
  return metrics
}

/**
 * Computes the metrics of a row of a response and sets them in it. A report sets those of a thousand rows in copies of a blank
 * row, which is faster than to add properties.
 * @param names in the order of the schema
 */
export function setMetrics(target: Partial<Record<Metric, unknown>>, row: SumTexts, names: readonly Metric[]): void {
  const exact: Exact = metricNames.map(() => 0)
  for (const { metric, position } of summed) exact[position] = millionthsOf(row[metric] ?? 0)
  for (const { position, minuend, subtrahend } of differences) {
    exact[position] = difference(exact[minuend] as Millionths, exact[subtrahend] as Millionths)
  }
  for (const name of names) target[name] = computations[name](row, exact)
}
