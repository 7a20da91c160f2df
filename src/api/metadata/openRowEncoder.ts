import { type TObject, Type } from '@sinclair/typebox'
import { cursorField } from '../../../schema/fields.ts'
import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { csvHeader, csvLines } from '../../rows/csvWriter.ts'
import { isSelected, type SelectedFields, selectIn } from '../../rows/selectedFields.ts'
import { parquetEncoder } from './parquetEncoder.ts'
import type { EncodedRow, RowEncoder } from './rowEncoder.ts'

const nothing = Buffer.alloc(0)

/**
 * Creates the encoder of one file.
 * @param row schema of a row; the file has its selected fields, in its order, and then `cursor`
 */
export function openRowEncoder(
  row: TObject,
  { format, csvEscape, selected }: { format: RowFormat; csvEscape: CsvEscape; selected: SelectedFields },
): RowEncoder {
  const fields = Object.entries({ ...row.properties, [cursorField]: Type.String() })
  const columns = Object.fromEntries(fields.filter(([name]) => isSelected(name, selected)))
  if (format === 'parquet') return parquetEncoder(columns)
  if (format === 'ndjson') {
    const encode = (rows: readonly EncodedRow[]) =>
      Buffer.from(rows.map((row) => `${JSON.stringify(selectIn(row, selected))}\n`).join(''))
    return { begin: () => nothing, encode, end: () => nothing }
  }
  const names = Object.keys(columns)
  return {
    begin: () => Buffer.from(csvHeader(names, csvEscape)),
    encode: (rows) => Buffer.from(csvLines(names, rows, csvEscape)),
    end: () => nothing,
  }
}
