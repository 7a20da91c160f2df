import { type NamedTable, namedTables } from '../../../schema/metadata.ts'
import { formatMillionths } from '../../query/money.ts'
import { columnName } from '../../stores/clickhouse/columnKinds.ts'
import { type MetadataKind, metadataFields } from '../../stores/postgres/metadataFields.ts'
import type { MetadataRow } from '../../writer/store/metadata.ts'
import { typesOf } from '../readers/fieldTypes.ts'
import { type RowReader, type RowShape, rowReader } from '../readers/rowReader.ts'

/** Instants are epoch milliseconds, amounts are millionths. */
type Fields = Record<string, string | number | bigint | null | string[]>

/** The values of absent fields; of other kinds they are null. */
const absent: Readonly<Partial<Record<MetadataKind, Fields[string]>>> = { required: '', status: 'active', list: [] }

function shapeOf(table: NamedTable): RowShape<Fields> {
  return {
    name: table.replace('_', '-'),
    required: ['id', 'name'],
    ignored: [...(table === 'campaigns' ? ['trafficSourceName', 'matched', 'matches'] : []), 'cursor'],
    fields: typesOf(metadataFields[table]) as RowShape<Fields>['fields'],
  }
}

export const metadataShapes = Object.fromEntries(namedTables.map((table) => [table, shapeOf(table)])) as Record<
  NamedTable,
  RowShape<Fields>
>

/** @returns the reader of the rows of a table, whose columns are `cost_value` for `costValue`, with amounts and times as text */
export function metadataReader(table: NamedTable): RowReader<MetadataRow> {
  const kinds = Object.entries<MetadataKind>(metadataFields[table])
  const blank = Object.fromEntries(kinds.map(([name, kind]) => [name, absent[kind] ?? null]))
  const read = rowReader(metadataShapes[table], blank)
  const toColumn = (value: Fields[string]) => {
    if (typeof value === 'number') return new Date(value).toISOString()
    return typeof value === 'bigint' ? formatMillionths(value) : value
  }
  return (fields, input) => {
    const columns = Object.entries(read(fields, input)).map(([name, value]) => [columnName(name), toColumn(value)])
    return { account_id: '', ...Object.fromEntries(columns) } as MetadataRow
  }
}
