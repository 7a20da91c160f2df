import { subIdNames } from '../../schema/subIds.ts'
import { type ColumnKind, columnName } from '../stores/clickhouse/columnKinds.ts'
import { ch, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'
import * as stored from '../stores/clickhouse/tableColumns.ts'

/** A field that ClickHouse formats: its name in the API, and its value. Absent text is stored as the empty string, exported as NULL. */
export interface RowField {
  name: string
  value: Fragment
  /** Value of the CSV cell, if `value` is not a single value. */
  cell?: Fragment
  /** Whether the cell is arbitrary text: not a number, a time or a value of an enumeration. */
  isText?: true
}

/** The stored fields of a click, as in the API. @param entities ids of its entities, or ids and names */
export function exportedClickFields(baseCurrency: string, entities?: readonly RowField[]): RowField[] {
  return rowFields(stored.clickFields, baseCurrency, entities)
}

/** The stored fields of a conversion, with the names and the order of the API. */
export function exportedConversionFields(baseCurrency: string, entities?: readonly RowField[]): RowField[] {
  return rowFields(stored.conversionFields, baseCurrency, entities)
}

/** The stored fields of a row, with the names and the order of the API. @param entities as in `exportedClickFields` */
export function rowFields(
  fields: Readonly<Record<string, ColumnKind>>,
  baseCurrency: string,
  entities: readonly RowField[] = Object.entries(stored.entityIdFields).map(([name, kind]) => exportField(name, kind)),
): RowField[] {
  return Object.entries(fields).flatMap(([name, kind]) => {
    if (name in stored.entityIdFields) return name === 'campaignId' ? entities : []
    if (name in stored.subIdFields) return name === 'sub1' ? [subIds] : []
    const field = exportField(name, kind)
    const isConverted = name === 'costBase' || name === 'revenueBase'
    return isConverted ? [field, { name: 'baseCurrency', value: ch`${text(baseCurrency)}` }] : [field]
  })
}

/** @returns a stored field under its own name */
export function exportField(name: string, kind: ColumnKind): RowField {
  const column = identifier(columnName(name))
  if (kind === 'text') return { name, value: ch`nullIf(${column}, '')`, isText: true }
  return { name, value: column, ...(kind === 'id' && { isText: true as const }) }
}

const subIdValues = join(
  subIdNames.map((name) => ch`nullIf(${identifier(name)}, '')`),
  ', ',
)
const subIdTypes = join(
  subIdNames.map((name) => ch`${identifier(name)} Nullable(String)`),
  ', ',
)
const subIdTuple = ch`CAST((${subIdValues}), 'Tuple(${subIdTypes})')`
const subIds: RowField = { name: 'subIds', value: subIdTuple, cell: ch`toJSONString(${subIdTuple})` }
