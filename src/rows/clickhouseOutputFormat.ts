import type { RowFormat } from '../../schema/rowFormat.ts'
import { ch, type Fragment, identifier, join } from '../stores/clickhouse/sql.ts'
import { type CsvEscape, escapeFormulaSql } from './csvEscape.ts'
import type { ExportField, ObjectField, RowField } from './exportFields.ts'
import { isSelected, type SelectedFields } from './selectedFields.ts'

/** Settings of exports: ClickHouse formats values as the API does, and sorts on disk what does not fit into memory. */
export const rowFormatSettings = {
  // In bytes. Events, and any list ordered by the time of storing, are not in the order of their table.
  max_bytes_before_external_sort: '300000000',
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_escape_forward_slashes: 0,
  format_csv_null_representation: '',
  // TRAP: a field can have the name of a column and another value. Conditions, order and cursors refer to the column.
  prefer_column_name_to_alias: 1,
  // ClickHouse keeps a row group in memory while it writes it; 64 MiB are about 100,000 clicks.
  output_format_parquet_row_group_size_bytes: '67108864',
  output_format_parquet_row_group_size: '131072',
  // Bloom filters would take a quarter of the time and a fifth of the file. Level 3 of ZSTD, the default, makes no smaller files.
  output_format_parquet_write_bloom_filter: 0,
  output_format_compression_level: '1',
} as const

/** The FORMAT clauses of SELECTs. */
export const formatClauses = {
  ndjson: ch`FORMAT JSONEachRow`,
  csv: ch`FORMAT CSVWithNames`,
  parquet: ch`FORMAT Parquet`,
} as const satisfies Record<RowFormat, Fragment>

/** For exports of events, which are always sorted and have up to 8 KiB of properties: a sort on disk merges a block of each part. */
export const eventExportSettings = { max_block_size: '8192' } as const

/** Format and fields of an export. */
export interface ExportOptions {
  format: RowFormat
  csvEscape: CsvEscape
  selected: SelectedFields
}

/** The select list of export fields, each under its name. */
export function selectList(
  fields: readonly ExportField[],
  { format, csvEscape, selected }: { format: RowFormat; csvEscape?: CsvEscape; selected?: SelectedFields },
): Fragment {
  const columns = fields.flatMap((field) => {
    if ('parts' in field) return partColumns(field, format, selected)
    return isSelected(field.name, selected) ? [field] : []
  })
  return join(
    columns.map((column) => ch`${columnExpression(column, format, csvEscape)} AS ${identifier(column.name)}`),
    ',\n  ',
  )
}

/** The columns of an object: its selected parts in CSV, otherwise a struct of them. */
function partColumns({ name, parts }: ObjectField, format: RowFormat, selected: SelectedFields): readonly RowField[] {
  const shown = isSelected(name, selected) ? parts : parts.filter((part) => isSelected(part.name, selected))
  if (format === 'csv' || shown.length === 0) return shown
  const values = shown.map(({ value }) => value)
  const types = shown.map((part) => ch`${identifier(part.name)} Nullable(String)`)
  return [{ name, value: ch`CAST(tuple(${join(values)}), 'Tuple(${join(types)})')` }]
}

function columnExpression({ value, isText }: RowField, format: RowFormat, csvEscape: CsvEscape): Fragment {
  return format === 'csv' && isText && csvEscape === 'formulas' ? escapeFormulaSql(value) : value
}
