import { type FilterAttribute, filterTreeLimits, filterValuesMax } from '../../schema/filters.ts'
import { isNamedMetric, type ReportMetric } from '../../schema/metrics.ts'
import { invalidParameter } from '../problem.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import { amountsShownAs } from './money.ts'

/** A condition on the value of an attribute. */
export interface ValueFilter {
  attribute: FilterAttribute
  /** At least one, without repetitions; absent values are the empty text or `(not set)`. */
  values: readonly string[]
  /** Whether rows with these values are excluded, instead of all others. */
  isExcluded: boolean
  /** Whether a part of the value is enough, without case. */
  isPart?: boolean
  /** The values for `IN`, if there can be any number of them. */
  list?: Fragment
}

/** A condition on a row: true or false, also for absent values. `not` is of one condition. */
export type Filter = ValueFilter | { operator: 'and' | 'or' | 'not'; of: readonly Filter[] }

/** A comparison of a metric of a bucket with a number: with the amounts that a response shows as the number. */
export interface MetricCondition extends ReturnType<typeof amountsShownAs> {
  metric: ReportMetric
  operator: (typeof comparisonOperators)[number]
}

export const comparisonOperators = ['=', '>', '>=', '<', '<='] as const

/** The operators of values: whether they look for a part of the value, and whether they negate. */
export const valueOperators = {
  is: { isPart: false, isExcluded: false },
  is_not: { isPart: false, isExcluded: true },
  contains: { isPart: true, isExcluded: false },
  contains_not: { isPart: true, isExcluded: true },
} as const
type ValueOperator = keyof typeof valueOperators

export interface TreeReader {
  /** @throws Problem `invalid_filters` for an unknown name, or values that the filter cannot have */
  readLeaf(name: string, values: readonly string[], operator: ValueOperator, at: string): Filter
  /** The metrics that may be compared, at the top level. */
  metrics: readonly ReportMetric[]
}

/**
 * Parses the parameter `filters`.
 * @returns the conditions, combined with AND, and the JSON without spaces: equal for equal conditions in the same order
 * @throws Problem `invalid_filters`; its message has the place of the condition, such as `2.1`
 */
export function readFilterTree(json: string, { readLeaf, metrics: comparable }: TreeReader) {
  const hasMetrics = comparable.length > 0
  if (Buffer.byteLength(json) > filterTreeLimits.bytes) throw invalid('has more than 4 KiB.')
  const tree = parse(json)
  if (!Array.isArray(tree) || typeof tree[0] === 'string') throw invalid(`must be a list of conditions: ${example}.`)
  const metrics: MetricCondition[] = []
  let leaves = 0

  function readNodes(nodes: unknown, depth: number, at: string): Filter[] {
    if (!Array.isArray(nodes) || nodes.length === 0) throw wrong(at, 'must have a list of one or more conditions')
    return nodes.flatMap((node, index) => readNode(node, depth, at === '' ? `${index + 1}` : `${at}.${index + 1}`))
  }

  function readNode(node: unknown, depth: number, at: string): Filter[] {
    if (depth > filterTreeLimits.depth) throw wrong(at, `is nested more than ${filterTreeLimits.depth} deep`)
    const [operator, first, second] = Array.isArray(node) ? node : []
    const length = Array.isArray(node) ? node.length : 0
    if (length === 2) {
      if (operator === 'and' || operator === 'or') return [{ operator, of: readNodes(first, depth + 1, at) }]
      if (operator === 'not') return [{ operator, of: readNode(first, depth + 1, at) }]
    }
    leaves += 1
    if (leaves > filterTreeLimits.leaves)
      throw invalid(`has more than ${filterTreeLimits.leaves} conditions with values.`)
    const isOfValues = typeof operator === 'string' && Object.hasOwn(valueOperators, operator)
    if (isOfValues && typeof first === 'string' && length === 3)
      return [readLeaf(first, readValues(second, at), operator as ValueOperator, at)]
    if ((comparisonOperators as readonly unknown[]).includes(operator) && length === 3) {
      if (!hasMetrics) throw wrong(at, 'compares a metric, which only reports can')
      metrics.push(readMetric(operator as MetricCondition['operator'], first, second, at))
      if (depth > 1) throw wrong(at, 'compares a metric within another condition; only the top level can')
      return []
    }
    const comparison = hasMetrics ? '; or [">=", metric, number]' : ''
    throw wrong(at, `must be ${alternatives}${comparison}`)
  }

  function readMetric(operator: MetricCondition['operator'], name: unknown, value: unknown, at: string) {
    const metric = isNamedMetric(name) ? name : comparable.find((one) => one === name)
    if (!metric) throw wrong(at, `must name a metric: ${comparable.join(', ')}, events:<name>, eventVisitors:<name>`)
    const amounts = typeof value === 'number' && Math.abs(value) <= numberMax && amountsShownAs(value)
    if (!amounts || amounts.least > amounts.greatest)
      throw wrong(at, 'must compare with a number from -1e30 to 1e30 with at most six decimals')
    return { metric, operator, ...amounts }
  }

  return { filters: readNodes(tree, 1, ''), metrics, canonical: JSON.stringify(tree) }
}

const example = '[["is", "country", ["US"]]]'

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw invalid(`is not JSON; the form is ${example}.`)
  }
}

function readValues(values: unknown, at: string): string[] {
  // Neither database stores U+0000 and halves of surrogate pairs.
  const isText = (value: unknown) => typeof value === 'string' && value !== '' && !/[\0\p{Surrogate}]/u.test(value)
  if (!Array.isArray(values) || values.length === 0 || !values.every(isText)) {
    throw wrong(at, 'must have a list of values, which are texts that are not empty')
  }
  if (values.length > filterValuesMax) throw wrong(at, `has more than ${filterValuesMax} values`)
  return values
}

/** Largest number that a metric is compared with: beyond 100 times the sum of a billion amounts, divided by the least one. */
const numberMax = 1e30

const alternatives =
  '["is", filter, [values]], with is_not, contains or contains_not instead of is; or ["and", [conditions]], ["or", [conditions]], ["not", condition]'

const invalid = (text: string) => invalidParameter('filters', text)

/** @param at positions of the condition in its lists, from 1; empty: the whole */
const wrong = (at: string, text: string) => invalid(at === '' ? `${text}.` : `condition ${at} ${text}.`)
