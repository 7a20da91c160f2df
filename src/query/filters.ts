import type { Static, TObject } from '@sinclair/typebox'
import { devices } from '../../schema/click.ts'
import { conversionSources, conversionStatuses } from '../../schema/conversion.ts'
import { type ConversionAttributeName, conversionAttributeNames, notSet } from '../../schema/dimensions.ts'
import {
  type ColumnFilterName,
  columnFilterNames,
  type FilterAttribute,
  filterAttributes,
  filterNames,
  type filterParameters,
  filterValuesMax,
  type ParameterName,
} from '../../schema/filters.ts'
import { idPattern } from '../../schema/scalars.ts'
import { invalidParameter } from '../problem.ts'
import { ch, type Fragment, texts } from '../stores/clickhouse/sql.ts'
import { attributeOf, type RowTable } from './attributes.ts'

interface FilterValues {
  /** At least one, without repetitions; absent values are the empty text or `(not set)`. */
  values: readonly string[]
  /** Whether rows with these values are excluded, instead of all others. */
  isExcluded: boolean
}

export interface Filter extends FilterValues {
  attribute: FilterAttribute
}

/** The filter parameters of a query; only lists filter by columns that identify rows. */
export type FilterQuery = Static<TObject<typeof filterParameters>> &
  Partial<Record<ConversionAttributeName | ColumnFilterName, string>>

const attributeByParameter = new Map<ParameterName, FilterAttribute>([
  ...filterNames.map((name) => [name, filterAttributes[name]] as const),
  ...[...conversionAttributeNames, ...columnFilterNames].map((name) => [name, name] as const),
])

/**
 * Parses the filter parameters of a query; other parameters are ignored.
 * @returns filters, combined with AND
 * @throws Problem `invalid_<parameter>`
 */
export function readFilters(query: FilterQuery): Filter[] {
  const stored = { ...query, ...inStoredCase(query) }
  return [...attributeByParameter].flatMap(([name, attribute]) => {
    const text = stored[name]
    const isNone = text === undefined || (name === 'source' && text === 'all')
    return isNone ? [] : [{ attribute, ...readValues(name, text) }]
  })
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
  return filters.map(({ attribute, ...values }) => valueCondition(attributeOf(attribute, table), values))
}

/** @returns the condition of a filter on an expression */
export function valueCondition(value: Fragment, { values, isExcluded }: FilterValues): Fragment {
  return isExcluded ? ch`${value} NOT IN ${texts(values)}` : ch`${value} IN ${texts(values)}`
}

const oneOf = (names: readonly string[]) => ({
  pattern: new RegExp(`^(${names.join('|')})$`),
  allowed: `one of ${names.join(', ')}`,
})
const id = { pattern: new RegExp(idPattern), allowed: '1 to 64 letters, digits and _ . : -' }

const entityIds = { campaign_id: id, offer_id: id, landing_page_id: id, traffic_source_id: id }

/** Values that a filter can have; any text unless listed here. */
const formats: Partial<Record<ParameterName, typeof id>> = {
  ...entityIds,
  visitor_id: id,
  click_id: id,
  country: { pattern: /^[A-Z]{2}$/, allowed: 'country codes such as US' },
  device: oneOf(devices),
  status: oneOf(conversionStatuses),
  source: oneOf(conversionSources),
}

function readValues(name: ParameterName, text: string): FilterValues {
  const isExcluded = text.startsWith('!')
  const given = splitValues(name, isExcluded ? text.slice(1) : text, !isExcluded)
  if (given.length > filterValuesMax) throw invalidParameter(name, `has more than ${filterValuesMax} values.`)
  const format = formats[name]
  if (format && !given.every((value) => value === notSet || format.pattern.test(value))) {
    throw invalidParameter(name, `must be ${format.allowed}, or ${notSet}; separate values with commas.`)
  }
  return {
    // Sums of clicks that were stored with the text `(not set)` have it as their value.
    values: [...new Set(given)].flatMap((value) => (value === notSet ? ['', notSet] : [value])),
    isExcluded,
  }
}

/**
 * Splits a list at its commas and resolves `\,` and `\\`.
 * @param isStart whether the text starts the parameter, where `\!` is a literal `!`
 */
function splitValues(name: ParameterName, text: string, isStart: boolean): string[] {
  const values = ['']
  for (const { 0: part, index } of text.matchAll(/\\.|[^\\,]+|./gs)) {
    const isEscape = part === '\\,' || part === '\\\\' || (part === '\\!' && isStart && index === 0)
    if (part === ',') values.push('')
    else if (isEscape || !part.startsWith('\\')) values.push(`${values.pop()}${isEscape ? part[1] : part}`)
    else throw invalidParameter(name, 'has an invalid escape; valid are \\, and \\\\ and a leading \\!.')
  }
  if (values.includes('')) throw invalidParameter(name, `has an empty value; use ${notSet} for rows without a value.`)
  return values
}
