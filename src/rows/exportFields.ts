import { exportedDimensions } from '../../schema/fields.ts'
import { subIdNames } from '../../schema/subIds.ts'
import { attributeOf, type RowTable } from '../query/attributes.ts'
import { type ColumnKind, columnName, type Fields } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, text } from '../stores/clickhouse/sql.ts'
import { entityIdFields } from '../stores/clickhouse/tableColumns.ts'
import { rowLayout } from './rowLayout.ts'
import type { SelectedFields } from './selectedFields.ts'

/** A field that ClickHouse formats: its name in the API, and its value. Absent text is stored as the empty string, exported as NULL. */
export interface RowField {
  name: string
  value: Fragment
  /** Whether the cell is arbitrary text: not a number, a time or a value of an enumeration. */
  isText?: true
}

/** A field that is an object of texts; in CSV each of them is a column. */
export type ObjectField = { name: string; parts: readonly RowField[] }

export type ExportField = RowField | ObjectField

const entityIds = Object.entries(entityIdFields).map(([name, kind]) => exportField(name, kind))

/** The stored fields of a row, with the names and the order of the API. @param entities fields of its entities; by default their ids */
export function exportFields(
  stored: Fields,
  baseCurrency: string,
  entities: readonly RowField[] = entityIds,
): ExportField[] {
  return rowLayout<ExportField>(stored, {
    field: exportField,
    entity: (name) => (name === 'campaignId' ? entities : []),
    subIds,
    baseCurrency: { name: 'baseCurrency', value: ch`${text(baseCurrency)}` },
  })
}

/** @returns the dimensions that a request names as fields, which rows do not have otherwise */
export function dimensionFields(table: RowTable, selected: SelectedFields): RowField[] {
  return Object.entries(exportedDimensions[table] ?? {}).flatMap(([name, dimension]) =>
    selected?.has(name) ? [{ name, value: ch`nullIf(${attributeOf(dimension, table)}, '')`, isText: true }] : [],
  )
}

/** @returns a stored field under its own name */
export function exportField(name: string, kind: ColumnKind): RowField {
  const column = identifier(columnName(name))
  if (kind === 'text') return { name, value: ch`nullIf(${column}, '')`, isText: true }
  return { name, value: column, ...(kind === 'id' && { isText: true as const }) }
}

const subIds: ObjectField = { name: 'subIds', parts: subIdNames.map((name) => exportField(name, 'text')) }
