import type { RowFormat } from '../../schema/rowFormat.ts'
import { ch, type Fragment, identifier, join } from '../stores/clickhouse/sql.ts'
import { type CsvEscape, escapeFormulaSql } from './csvEscape.ts'
import type { RowField } from './exportFields.ts'

/** How ClickHouse writes values, so that they are those of the API. */
export const rowFormatSettings = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_escape_forward_slashes: 0,
  format_csv_null_representation: '',
  // TRAP: a field has the name of its column and may have another value. Conditions, order and cursors mean the column.
  prefer_column_name_to_alias: 1,
  // A row group is held whole while it is written; 64 MiB of ours is some 100,000 clicks.
  output_format_parquet_row_group_size_bytes: '67108864',
  output_format_parquet_row_group_size: '131072',
} as const

const clickhouseFormats = { ndjson: ch`JSONEachRow`, csv: ch`CSVWithNames`, parquet: ch`Parquet` } as const

/** The end of a SELECT. */
export function formatClause(format: RowFormat): Fragment {
  return ch`FORMAT ${clickhouseFormats[format]}`
}

/** The select list of some fields, each under its name. */
export function selectList(fields: readonly RowField[], format: RowFormat, csvEscape?: CsvEscape): Fragment {
  return join(
    fields.map((field) => ch`${fieldExpression(field, format, csvEscape)} AS ${identifier(field.name)}`),
    ',\n  ',
  )
}

function fieldExpression({ value, cell, isText }: RowField, format: RowFormat, csvEscape: CsvEscape): Fragment {
  if (format !== 'csv') return value
  return isText && csvEscape === 'formulas' ? escapeFormulaSql(value) : (cell ?? value)
}
