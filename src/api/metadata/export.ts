import { type TObject, Type } from '@sinclair/typebox'
import { cursorField } from '../../../schema/fields.ts'
import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { RouteContext } from '../../http/context.ts'
import { writeCursor } from '../../query/pagination.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { csvHeader, csvLines } from '../../rows/csvWriter.ts'
import { toResource } from '../../rows/metadata.ts'
import { isSelected, type SelectedFields, selectIn } from '../../rows/selectedFields.ts'
import { queryPostgres, withNewPlan } from '../../stores/postgres/connection.ts'
import { parquetEncoder } from './parquetEncoder.ts'
import type { MetadataPlan } from './plan.ts'
import type { EncodedRow, RowEncoder } from './rowEncoder.ts'
import { metadataKey, selectMetadata } from './run.ts'

/** Rows of one statement: few enough that a key look-up does not wait long behind it on the embedded engine. */
const rowsPerStatement = 1_000

/**
 * Reads all rows of a plan after its cursor, with constant memory.
 * @param row schema of a row
 * @throws Problem `unavailable`, also after the first part
 */
export async function* exportMetadata(
  { stores: { postgresReader } }: RouteContext,
  plan: MetadataPlan,
  { row, ...options }: { row: TObject; format: RowFormat; csvEscape: CsvEscape; selected: SelectedFields },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const encoder = openRowEncoder(row, options)
  yield encoder.begin()
  let after = plan.after
  for (;;) {
    signal.throwIfAborted()
    const rows = await queryPostgres(withNewPlan(selectMetadata(postgresReader, { ...plan, after }, rowsPerStatement)))
    const encoded = rows.map((stored) => ({
      ...toResource(stored),
      cursor: writeCursor(metadataKey(stored), plan.fingerprint),
    }))
    yield encoder.encode(encoded as readonly EncodedRow[])
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerStatement) break
    after = metadataKey(last)
  }
  yield encoder.end()
}

const nothing = Buffer.alloc(0)

/**
 * Creates the encoder of one file.
 * @param row schema of a row; the file has its selected fields, in its order, and then `cursor`
 */
function openRowEncoder(
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
