import type { TObject } from '@sinclair/typebox'
import { cursorField } from '../../../schema/fields.ts'
import { writeCursor } from '../../query/pagination.ts'
import type { ExportOptions } from '../../rows/clickhouseOutputFormat.ts'
import { entityLines } from '../../rows/metadata.ts'
import { isSelected } from '../../rows/selectedFields.ts'
import type { Postgres } from '../../stores/postgres/connection.ts'
import { type MetadataKind, metadataFields } from '../../stores/postgres/metadataFields.ts'
import { readInParts } from '../../stores/postgres/readInParts.ts'
import { type ListedEntity, type MetadataPlan, metadataKey, selectMetadata } from './page.ts'
import { parquetFile } from './parquetFile.ts'

/** Few enough that rows are written in 10 ms of the event loop; many enough that the end of a Parquet file, which describes each part, takes no longer. */
const rowsPerStatement = 500

/**
 * Writes all rows of a plan after its cursor as a file, with constant memory: the selected fields, and then `cursor`. It may throw
 * after the first part.
 * @param row schema of a row
 */
export function exportMetadata(
  postgres: Postgres,
  plan: MetadataPlan,
  { row, format, csvEscape, selected }: ExportOptions & { row: TObject },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const kinds: Readonly<Record<string, MetadataKind>> = metadataFields[plan.table]
  const names = [...Object.keys(row.properties), cursorField].filter((name) => isSelected(name, selected))
  const fields = names.map((name) => [name, kinds[name] ?? 'text'] as const)
  const parts = readParts(postgres, plan, signal)
  return format === 'parquet' ? parquetFile(fields, parts) : entityLines(fields, parts, format, csvEscape)
}

/** Reads the rows with their cursors; at least one part, which may be empty. */
async function* readParts(postgres: Postgres, plan: MetadataPlan, signal: AbortSignal) {
  const select = (last: ListedEntity | undefined, limit: number) =>
    selectMetadata(postgres, last ? { ...plan, after: metadataKey(last) } : plan, limit, 'text')
  for await (const rows of readInParts(select, rowsPerStatement)) {
    signal.throwIfAborted()
    yield rows.map((stored) => ({ ...stored, [cursorField]: writeCursor(metadataKey(stored), plan.boundTo) }))
  }
}
