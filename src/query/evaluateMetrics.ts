import type { ListedMetric, Metric, NamedMetric, ReportMetric } from '../../schema/metrics.ts'
import { metricNames, reportMetricNames } from '../../schema/metrics.ts'
import { ch, type Fragment, integer, text } from '../stores/clickhouse/sql.ts'
import type { MetricCondition } from './filterTree.ts'
import { aliasOf, definitionOf, metricDefinitions } from './metricDefinitions.ts'
import { fromMillionths, type Millionths, millionthsOf, ratioMillionths, sum } from './money.ts'

// Evaluates `metricDefinitions`: in SQL to order the rows of a report, in Node for responses, exactly.

/**
 * The value of a metric for ORDER BY, in a SELECT with `groupedSums`: ordered as the response shows it, and NULL for a null
 * ratio.
 */
export function orderValue(metric: ReportMetric): Fragment {
  const definition = definitionOf(metric)
  if (definition.kind === 'ratio') {
    const [n, d] = [millionthsSql(definition.numerator), millionthsSql(definition.denominator)]
    // Rounded to six decimals, half away from zero, like `ratio`; the denominator is a count or an amount.
    const doubled = ch`2 * abs(${n}) * ${integer(definition.times * 1_000_000)} + abs(${d})`
    return ch`if(${d} = 0, NULL, sign(${n}) * sign(${d}) * intDivOrZero(${doubled}, 2 * abs(${d})))`
  }
  return definition.kind === 'difference' ? millionthsSql(metric) : aliasOf(metric)
}

/** Whether a metric, as the response shows it, compares so with a number; never for a null ratio. In a SELECT with `groupedSums`. */
export function metricCondition({ metric, operator, least, greatest }: MetricCondition): Fragment {
  const [from, to] = [least, greatest].map((amount) => ch`toInt256(${text(`${amount}`)})`) as [Fragment, Fragment]
  const compared = {
    '=': ch`BETWEEN ${from} AND ${to}`,
    '>': ch`> ${to}`,
    '>=': ch`>= ${from}`,
    '<': ch`< ${from}`,
    '<=': ch`<= ${to}`,
  }
  return ch`ifNull(${shownMillionths(metric)} ${compared[operator]}, 0)`
}

/** A metric as the response shows it, in millionths; NULL for a null ratio. */
export function shownMillionths(metric: ReportMetric): Fragment {
  return isRatio(metric) ? orderValue(metric) : millionthsSql(metric)
}

export function isRatio(metric: ReportMetric): boolean {
  return definitionOf(metric).kind === 'ratio'
}

/** A metric that is not a ratio, in millionths. */
function millionthsSql(metric: ReportMetric): Fragment {
  const definition = definitionOf(metric)
  if (definition.kind === 'distinct') return ch`toInt256(${aliasOf(metric)}) * 1000000`
  if (definition.kind === 'difference') {
    return ch`(${millionthsSql(definition.minuend)} - ${millionthsSql(definition.subtrahend)})`
  }
  return ch`toInt256(toDecimal256(${aliasOf(metric)}, 6) * 1000000)`
}

/** Sums as ClickHouse returns them: counts as numbers, decimals as text, since JSON numbers would round them. */
export type SumTexts = Partial<Record<ReportMetric, string | number>>

/**
 * Exact sums, differences of sums and counts of visitors and events in millionths, at the positions of `reportMetricNames`: positions take
 * a third less time than names. Metrics of the events of one name follow them. Ratios are computed from them.
 */
export type ExactSums = readonly Millionths[]

const positionOf = (metric: ListedMetric) => reportMetricNames.indexOf(metric)

/** How the values of `ExactSums` are read, in their order: operands come before their difference. A ratio has no value. */
const readers = reportMetricNames.map((metric): ((row: SumTexts, exact: ExactSums) => Millionths) => {
  const definition = metricDefinitions[metric]
  if (definition.kind === 'ratio') return () => 0
  if (definition.kind !== 'difference') return (row) => millionthsOf(row[metric] ?? 0)
  const [minuend, subtrahend] = [positionOf(definition.minuend), positionOf(definition.subtrahend)]
  return (_row, exact) => sum(exact[minuend] as Millionths, -(exact[subtrahend] as Millionths))
})

/** @param named metrics of the response that are of the events of one name */
export function readSums(row: SumTexts, named: readonly NamedMetric[] = []): ExactSums {
  const exact: Millionths[] = []
  for (const read of readers) exact.push(read(row, exact))
  for (const metric of named) exact.push(millionthsOf(row[metric] ?? 0))
  return exact
}

/** The sums of no rows. */
export const noSums: ExactSums = readSums({})

/** Adds up the sums of rows, without metrics of the events of one name. */
export function addSums(rows: readonly ExactSums[]): ExactSums {
  return noSums.map((none, position) => rows.reduce((total, row) => sum(total, row[position] ?? 0), none))
}

/** How the value of each metric is computed, in millionths; null for a ratio whose denominator is zero. */
type Computation = (row: ExactSums) => Millionths | null
const computations: Partial<Record<ReportMetric, Computation>> = Object.fromEntries(
  reportMetricNames.map((metric) => [metric, computationOf(metric)]),
)

function computationOf(metric: ListedMetric): Computation {
  const definition = metricDefinitions[metric]
  if (definition.kind !== 'ratio') {
    const position = positionOf(metric)
    return (row) => row[position] as Millionths
  }
  const [numerator, denominator] = [positionOf(definition.numerator), positionOf(definition.denominator)]
  return (row) => ratioMillionths(row[numerator] as Millionths, row[denominator] as Millionths, definition.times)
}

/** Values of metrics in a response: ratios may be null. */
export type MetricValues = Record<Metric, number> & { [Name in Metric]: never }

/**
 * Computes the metrics of a response from sums.
 * @param names in the order of the schema
 */
export function toMetrics(row: ExactSums, names: readonly ReportMetric[] = metricNames): MetricValues {
  const metrics: Partial<Record<ReportMetric, number | null>> = {}
  let position = reportMetricNames.length
  for (const name of names) {
    const compute = computations[name]
    const value = compute ? compute(row) : (row[position++] ?? 0)
    metrics[name] = value === null ? null : fromMillionths(value)
  }
  return metrics as MetricValues
}
