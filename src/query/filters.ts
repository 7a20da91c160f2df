import type { Static, TObject } from '@sinclair/typebox'
import { conversionAttributeNames, eventAttributeNames, isProperty, notSet } from '../../schema/dimensions.ts'
import {
  columnFilterNames,
  devices,
  type FilterAttribute,
  type FilterName,
  filterAttributes,
  filterNames,
  type filterParameters,
  filterValuesMax,
  type ParameterName,
} from '../../schema/filters.ts'
import { reportMetricNames } from '../../schema/metrics.ts'
import { invalidParameter } from '../problem.ts'
import { ch, type Fragment, join, text, texts } from '../stores/clickhouse/sql.ts'
import { attributeOf, formats, type RowTable } from './attributes.ts'
import { byEntity, type ValuesByDimension } from './entityValues.ts'
import { type Filter, readFilterTree, type TreeReader, type ValueFilter, valueOperators } from './filterTree.ts'
import { visible } from './keyView.ts'
import type { PlanCaller } from './readContext.ts'
import { fold, folded } from './searchText.ts'
import { isLong, mayBeShortened, shortened } from './shownText.ts'

/** The filter parameters of a query; only lists filter by columns that identify rows. */
export type FilterQuery = Static<TObject<typeof filterParameters>> &
  Partial<Record<Exclude<ParameterName, FilterName> | 'filters', string | undefined>>

const attributeByParameter = new Map<ParameterName, FilterAttribute>([
  ...filterNames.map((name) => [name, filterAttributes[name]] as const),
  ...[...conversionAttributeNames, ...columnFilterNames, ...eventAttributeNames].map((name) => [name, name] as const),
])

/** Values of `filters`, with the ids of entities that they stand for: some megabytes of a statement. */
const idsMax = 200_000

/**
 * Parses the filter parameters of a query; other parameters are ignored.
 * @param values of the entity dimensions that it names
 * @returns filters, combined with AND
 * @throws Problem `invalid_<parameter>`
 */
export function readFilters(query: FilterQuery, values?: ValuesByDimension): ValueFilter[] {
  const stored = { ...query, ...inStoredCase(query) }
  return [...attributeByParameter].flatMap(([name, attribute]) => {
    const list = stored[name]
    if (list === undefined || (name === 'source' && list === 'all')) return []
    const isExcluded = list.startsWith('!')
    const given = splitValues(name, isExcluded ? list.slice(1) : list, !isExcluded)
    if (given.length > filterValuesMax) throw invalidParameter(name, `has more than ${filterValuesMax} values.`)
    const wanted = storedValues(attribute, given, name, '', '; separate values with commas')
    return [byEntity({ attribute, values: wanted, isExcluded }, values)]
  })
}

/**
 * Reads the filter parameters of a query, and its parameter `filters`.
 * @param names the filter parameters of the endpoint
 * @param caller whose filters are added, whose hidden metrics cannot be compared, and the values of entity dimensions that are named
 * @returns filters and conditions on metrics, combined with AND; `canonical` is `filters` in a form that is the same for equal filters
 * @throws Problem `invalid_<parameter>`
 */
export function readAllFilters(
  query: FilterQuery,
  names: readonly ParameterName[],
  { view, entityValues }: Pick<PlanCaller, 'view' | 'entityValues'>,
  hasMetrics = false,
) {
  const hasProperties = names.includes('event_origin')
  const known = hasProperties ? [...names, 'property:<name>'] : names
  let ids = 0
  const readLeaf: TreeReader['readLeaf'] = (name, values, operatorName, at) => {
    const parameter = names.find((one) => one === name)
    const attribute = hasProperties && isProperty(name) ? name : parameter && attributeByParameter.get(parameter)
    if (!attribute) throw invalidParameter('filters', `condition ${at} must name a filter: ${known.join(', ')}.`)
    const operator = valueOperators[operatorName]
    const stored = values.map((value) => inStoredCase({ [name]: value })[name as 'country'] ?? value)
    const readWanted = () => storedValues(attribute, stored, 'filters', `condition ${at} `)
    const wanted = operator.isPart ? [...new Set(values.map(fold))] : readWanted()
    const leaf = byEntity({ attribute, ...operator, values: wanted }, entityValues)
    ids += leaf.values.length
    if (ids > idsMax)
      throw invalidParameter('filters', `means more than ${idsMax} traffic sources and offers; send fewer conditions.`)
    return leaf
  }
  const ofView = Object.entries(view?.filters ?? {}).map(([name, values]) => readLeaf(name, values, 'is', ''))
  const filters: Filter[] = [...ofView, ...readFilters(query, entityValues)]
  if (query.filters === undefined) return { filters, metrics: [], canonical: undefined }
  const metrics = hasMetrics ? visible(reportMetricNames, view) : []
  const { filters: ofTree, ...tree } = readFilterTree(query.filters, { readLeaf, metrics })
  return { filters: [...filters, ...ofTree], ...tree }
}

/** @returns the attributes that filters read */
export function attributesOf(filters: readonly Filter[]): FilterAttribute[] {
  return filters.flatMap((filter) => ('of' in filter ? attributesOf(filter.of) : [filter.attribute]))
}

/** @returns `country` and `device`, which clients may write in any case, in the case of stored rows: equal filters are equal texts */
export function inStoredCase({ country, device }: FilterQuery) {
  return {
    country: country?.replace(/\b[a-z]{2}\b/gi, (code) => code.toUpperCase()),
    device: device?.replace(anyDevice, (name) => name.toLowerCase()),
  }
}

const anyDevice = new RegExp(`\\b(${devices.join('|')})\\b`, 'gi')

/** @returns the conditions of filters on the rows of a table */
export function filterConditions(filters: readonly Filter[], table: RowTable): Fragment[] {
  return filters.map((filter) => filterCondition(filter, (attribute) => attributeOf(attribute, table)))
}

/** @param expressionOf the expression of an attribute, empty when absent */
export function filterCondition(filter: Filter, expressionOf: (attribute: FilterAttribute) => Fragment): Fragment {
  if ('of' in filter) {
    const conditions = filter.of.map((one) => filterCondition(one, expressionOf))
    const all = ch`(${join(conditions, filter.operator === 'or' ? ' OR ' : '\n  AND ')})`
    return filter.operator === 'not' ? ch`NOT ${all}` : all
  }
  const { attribute, values, isExcluded, isPart, list = texts(values) } = filter
  const value = expressionOf(attribute)
  if (!isPart) {
    const isWhole = ch`${value} ${isExcluded ? ch`NOT IN` : ch`IN`} ${list}`
    // A list has ids, which are never long.
    const forms = filter.list ? [] : values.filter(mayBeShortened)
    if (forms.length === 0) return isWhole
    const isForm = ch`${isLong(value)} AND ${shortened(value)} IN ${texts(forms)}`
    return isExcluded ? ch`(${isWhole} AND NOT (${isForm}))` : ch`(${isWhole} OR ${isForm})`
  }
  const isFound = ch`${value} != ${text(notSet)} AND multiSearchAny(${folded(value)}, ${texts(values)})`
  return isExcluded ? ch`NOT (${isFound})` : ch`(${isFound})`
}

/**
 * Checks the values of a filter.
 * @param param parameter of the error, whose message begins with `start` and ends with `advice`
 * @returns each value once, as rows and sums have it
 */
function storedValues(attribute: FilterAttribute, given: readonly string[], param: string, start: string, advice = '') {
  const format = formats[attribute]
  if (format && !given.every((value) => value === notSet || format.pattern.test(value))) {
    throw invalidParameter(param, `${start}must be ${format.allowed}, or ${notSet}${advice}.`)
  }
  // Sums of clicks that were stored with the text `(not set)` have it as their value.
  return [...new Set(given)].flatMap((value) => (value === notSet ? ['', notSet] : [value]))
}

/**
 * Splits a list at its commas and resolves `\,` and `\\`.
 * @param isStart whether the list starts the parameter, where `\!` is a literal `!`
 */
function splitValues(name: ParameterName, list: string, isStart: boolean): string[] {
  const values = ['']
  for (const { 0: part, index } of list.matchAll(/\\.|[^\\,]+|./gs)) {
    const isEscape = part === '\\,' || part === '\\\\' || (part === '\\!' && isStart && index === 0)
    if (part === ',') values.push('')
    else if (isEscape || !part.startsWith('\\')) values.push(`${values.pop()}${isEscape ? part[1] : part}`)
    else throw invalidParameter(name, 'has an invalid escape; valid are \\, and \\\\ and a leading \\!.')
  }
  if (values.includes('')) throw invalidParameter(name, `has an empty value; use ${notSet} for rows without a value.`)
  return values
}
