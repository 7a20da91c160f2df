import { setImmediate as nextTurn } from 'node:timers/promises'
import { type TObject, Type } from '@sinclair/typebox'
import { cursorField } from '../../../schema/fields.ts'
import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { RouteContext } from '../../http/context.ts'
import { writeCursor } from '../../query/pagination.ts'
import type { ExportOptions } from '../../rows/clickhouseOutputFormat.ts'
import { csvHeader, csvLines } from '../../rows/csvSerializer.ts'
import { toEntity } from '../../rows/metadata.ts'
import { isSelected, selectIn } from '../../rows/selectedFields.ts'
import { queryPostgres, withNewPlan } from '../../stores/postgres/connection.ts'
import { type MetadataPlan, metadataKey, selectMetadata } from './page.ts'
import { type ExportedRow, parquetFile } from './parquetFile.ts'

/**
 * Rows and bytes of one statement: few enough that a key look-up does not wait long behind it on the embedded engine, and that they are
 * written in 5 ms of the event loop. The rows of a Parquet file are more, because its end describes each group of rows.
 */
const rowsPerStatement = { csv: 200, ndjson: 200, parquet: 250 } as const
const bytesPerStatement = 256 << 10

/**
 * Writes all rows of a plan after its cursor as a file, with constant memory: the selected fields, and then `cursor`. It may throw
 * after the first part.
 * @param row schema of a row
 */
export async function* exportMetadata(
  context: Pick<RouteContext, 'stores'>,
  plan: MetadataPlan,
  { row, format, csvEscape, selected }: ExportOptions & { row: TObject },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const fields = Object.entries({ ...row.properties, [cursorField]: Type.String() })
  const columns = Object.fromEntries(fields.filter(([name]) => isSelected(name, selected)))
  const names = Object.keys(columns)
  const parts = readParts(context, plan, format, signal)
  if (format === 'parquet') {
    yield* parquetFile(columns, parts)
    return
  }
  let header = format === 'csv' ? csvHeader(names, csvEscape) : ''
  for await (const rows of parts) {
    const lines =
      format === 'csv'
        ? csvLines(names, rows, csvEscape)
        : rows.map((row) => `${JSON.stringify(selectIn(row, selected))}\n`).join('')
    yield Buffer.from(header + lines)
    header = ''
  }
}

/** Reads the rows with their cursors; at least one part, which may be empty. */
async function* readParts(
  { stores: { postgresReader } }: Pick<RouteContext, 'stores'>,
  plan: MetadataPlan,
  format: RowFormat,
  signal: AbortSignal,
): AsyncGenerator<readonly ExportedRow[]> {
  let after = plan.after
  let rowsMax: number = rowsPerStatement[format]
  const money = format === 'parquet' ? 'text' : 'float8'
  for (;;) {
    signal.throwIfAborted()
    const selected = selectMetadata(postgresReader, { ...plan, after }, rowsMax, bytesPerStatement, money)
    const rows = await queryPostgres(withNewPlan(selected))
    const exported = rows.map((stored) => ({
      ...toEntity(stored),
      cursor: writeCursor(metadataKey(stored), plan.boundTo),
    }))
    // Reading and writing the rows have a turn of the event loop each.
    await nextTurn()
    yield exported as readonly ExportedRow[]
    const last = rows.at(-1)
    if (!last || (rows.length < rowsMax && !last.isFull)) return
    after = metadataKey(last)
    // The statement measures all rows up to its limit, also those that it does not return.
    rowsMax = Math.min(rowsPerStatement[format], 2 * rows.length)
  }
}
