import { type Column, columnsOf, type Fields } from '../../stores/clickhouse/columnKinds.ts'
import { conversionFields, costFields } from '../../stores/clickhouse/tableColumns.ts'
import type { AccountKey } from '../tables/accountKeys.ts'
import { type Conversion, conversionRowFields } from '../tables/conversion.ts'
import { type Cost, costRowFields } from '../tables/cost.ts'
import { fieldWithOtherValue, type Given, givenBit } from '../tables/givenFields.ts'

/** A row that changes: each state of it is a row with its own `version`. */
export interface ChangingRow extends AccountKey {
  /** Epoch milliseconds. */
  updatedAt: number
  importFile: string
  importLine: number
  version: number
  isDeleted: boolean
}

/** A row of a file. */
export type GivenRow<Row> = Row &
  Given & {
    /**
     * Of a row that changes stored rows and leaves their other values. Its `id` is empty if its group names them.
     * @returns the stored rows with the changes, or why the row is rejected
     */
    changesOf?: (stored: readonly Row[]) => (Row & Given)[] | string
  }

/**
 * A table whose rows change. A change writes the stored row as deleted, then the new row, in one block; sums count both. The upsert is the
 * same for each table, and so are its repair and its look-up by id.
 */
export interface ChangingTable<Row extends ChangingRow> {
  readonly name: 'conversions' | 'costs'
  /** Table with the latest version and the time of each id. */
  readonly index: 'conversion_index' | 'cost_index'
  /** The columns that are written. */
  readonly fields: Fields
  readonly columns: readonly Column<Row>[]
  /** A field that several rows may have in common, and its column. */
  readonly group?: { readonly column: string; of(row: Row): string }
  /** @returns the time of the sort key, epoch milliseconds */
  atOf(row: Row): number
  /** @returns the first field to which a row gives another value than the present row has */
  differingField(row: Row & Given, present: Row): string | undefined
  /** Whether the `updatedAt` of a row is the start of its import: a row that gives the stored values then changes nothing. */
  isUndated(row: Given): boolean
}

const { createdAt: _createdAt, updatedAt: _updatedAt, ...comparedOfConversions } = conversionFields
const conversionValues = Object.keys(comparedOfConversions)

export const conversionTable: ChangingTable<Conversion> = {
  name: 'conversions',
  index: 'conversion_index',
  fields: conversionRowFields,
  columns: columnsOf(conversionRowFields),
  group: { column: 'transaction_id', of: ({ transactionId }) => transactionId },
  atOf: ({ convertedAt }) => convertedAt,
  differingField: (row, present) => fieldWithOtherValue(conversionValues, row, present),
  isUndated: () => false,
}

const { id: _id, updatedAt: _updatedAtOfCost, ...comparedOfCosts } = costFields
const costValues = Object.keys(comparedOfCosts) as (keyof typeof comparedOfCosts)[]

export const costTable: ChangingTable<Cost> = {
  name: 'costs',
  index: 'cost_index',
  fields: costRowFields,
  columns: columnsOf(costRowFields),
  atOf: ({ spentAt }) => spentAt,
  differingField: (row, present) => costValues.find((field) => row[field] !== present[field]),
  isUndated: ({ given }) => (given & givenBit('updatedAt')) === 0,
}
