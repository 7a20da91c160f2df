import type { Static, TObject } from '@sinclair/typebox'
import { devices } from '../../schema/click.ts'
import type { AttributeName } from '../../schema/dimensions.ts'
import { notSet } from '../../schema/dimensions.ts'
import {
  type ColumnFilterName,
  columnFilterNames,
  type FilterName,
  filterAttributes,
  filterNames,
  type filterParameters,
  filterValuesMax,
} from '../../schema/filters.ts'
import { idPattern } from '../../schema/scalars.ts'
import { Problem } from '../problem.ts'
import { ch, type Fragment, identifier, texts } from '../stores/clickhouse/sql.ts'
import { attributeOf, type RowTable } from './attributes.ts'

/** Values that a filter selects or excludes. */
interface FilterValues {
  /** At least one, without repetitions; absent values are the empty text or `(not set)`. */
  values: readonly string[]
  /** Whether rows with these values are excluded, instead of all others. */
  isExcluded: boolean
}

/** A condition on an attribute of clicks and conversions. */
export interface Filter extends FilterValues {
  attribute: AttributeName
}

/** A condition on a column that is no attribute: it identifies rows instead of describing them. */
export interface ColumnFilter extends FilterValues {
  column: ColumnFilterName
}

/** The filter parameters of a query. */
export type FilterQuery = Static<TObject<typeof filterParameters>>
export type ColumnFilterQuery = Partial<Record<ColumnFilterName, string>>

/**
 * Parses the filter parameters of a query; other parameters are ignored.
 * @returns filters, combined with AND
 * @throws Problem `invalid_<parameter>`
 */
export function readFilters(query: FilterQuery): Filter[] {
  return filterNames.flatMap((name) => {
    const text = query[name]
    return text === undefined ? [] : [{ attribute: filterAttributes[name], ...readValues(name, text) }]
  })
}

/**
 * Parses the filter parameters of a list by column; other parameters are ignored.
 * @returns filters, combined with AND
 * @throws Problem `invalid_<parameter>`
 */
export function readColumnFilters(query: ColumnFilterQuery): ColumnFilter[] {
  return columnFilterNames.flatMap((column) => {
    const text = query[column]
    return text === undefined ? [] : [{ column, ...readValues(column, text) }]
  })
}

/** @returns the conditions of filters on the rows of a table */
export function filterConditions(filters: readonly Filter[], table: RowTable): Fragment[] {
  return filters.map(({ attribute, ...values }) => valueCondition(attributeOf(attribute, table), values))
}

/** @returns the conditions of filters by column */
export function columnFilterConditions(filters: readonly ColumnFilter[]): Fragment[] {
  return filters.map(({ column, ...values }) => valueCondition(identifier(column), values))
}

/** @returns the condition of a filter on an expression */
export function valueCondition(value: Fragment, { values, isExcluded }: FilterValues): Fragment {
  return isExcluded ? ch`${value} NOT IN ${texts(values)}` : ch`${value} IN ${texts(values)}`
}

const idExpression = new RegExp(idPattern)

const idFilters = [
  'campaign_id',
  'offer_id',
  'landing_page_id',
  'traffic_source_id',
  'visitor_id',
  'click_id',
] as const satisfies readonly (FilterName | ColumnFilterName)[]

/** Values that a filter can have; any text unless listed here. */
const formats: Partial<
  Record<FilterName | ColumnFilterName, { isValid: (value: string) => boolean; allowed: string }>
> = {
  ...Object.fromEntries(
    idFilters.map((name) => [
      name,
      { isValid: (value: string) => idExpression.test(value), allowed: '1 to 64 letters, digits and _ . : -' },
    ]),
  ),
  country: { isValid: (value) => /^[A-Z]{2}$/.test(value), allowed: 'country codes such as US' },
  device: {
    isValid: (value) => (devices as readonly string[]).includes(value),
    allowed: `one of ${devices.join(', ')}`,
  },
}

function readValues(name: FilterName | ColumnFilterName, text: string): FilterValues {
  const isExcluded = text.startsWith('!')
  const values = splitValues(name, isExcluded ? text.slice(1) : text, !isExcluded)
  if (values.length > filterValuesMax) throw invalid(name, `has more than ${filterValuesMax} values.`)
  const format = formats[name]
  for (const value of values) {
    if (value !== notSet && format?.isValid(value) === false) {
      throw invalid(name, `must be ${format.allowed}, or ${notSet}; separate values with commas.`)
    }
  }
  return {
    // Sums of clicks that were stored with the text `(not set)` have it as their value.
    values: [...new Set(values)].flatMap((value) => (value === notSet ? ['', notSet] : [value])),
    isExcluded,
  }
}

/**
 * Splits a list at its commas and resolves `\,` and `\\`.
 * @param isStart whether the text starts the parameter, where `\!` is a literal `!`
 */
function splitValues(name: FilterName | ColumnFilterName, text: string, isStart: boolean): string[] {
  const values = ['']
  for (let index = 0; index < text.length; index++) {
    let character = text.charAt(index)
    if (character === ',') {
      values.push('')
      continue
    }
    if (character === '\\') {
      index += 1
      character = text.charAt(index)
      const isEscape = character === ',' || character === '\\' || (character === '!' && isStart && index === 1)
      if (!isEscape) throw invalid(name, 'has an invalid escape; valid are \\, and \\\\ and a leading \\!.')
    }
    values[values.length - 1] += character
  }
  if (values.includes('')) throw invalid(name, `has an empty value; use ${notSet} for rows without a value.`)
  return values
}

function invalid(name: FilterName | ColumnFilterName, rest: string): Problem {
  return new Problem(`invalid_${name}`, `${name} ${rest}`, { param: name })
}
