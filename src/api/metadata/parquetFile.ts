import { setImmediate as nextTurn } from 'node:timers/promises'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { ExportedEntity, ExportedFields } from '../../rows/metadata.ts'
import type { MetadataKind } from '../../stores/postgres/metadataFields.ts'

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

/**
 * Writes metadata, which is in Postgres, as a Parquet file; ClickHouse writes the files of rows that it stores.
 * Columns have the types that ClickHouse gives to such fields: amounts are `Decimal(18, 6)`, times are milliseconds in UTC,
 * lists are lists of texts. Each part is one row group.
 */
export async function* parquetFile(fields: ExportedFields, parts: AsyncIterable<readonly ExportedEntity[]>) {
  const bytes = new ByteWriter()
  const root = { name: 'schema', num_children: fields.length }
  const schema = [root, ...fields.flatMap(([name, kind]) => elementsOf(name, kind))]
  const parquet = new ParquetWriter({ writer: bytes, schema, createdBy: 'tributary', statistics: false })

  /** Takes the bytes written so far; the offsets in the file go on. */
  function take(): Buffer {
    const taken = Buffer.from(bytes.getBytes())
    bytes.index = 0
    return taken
  }

  for await (const rows of parts) {
    const columnData = fields.map(([name, kind]) => ({ name, data: rows.map((row) => storedValue(kind, row[name])) }))
    // Without a Promise, because the writer does not flush.
    void parquet.write({ columnData, rowGroupSize: Math.max(1, rows.length) })
    yield take()
  }
  // The end describes every group, which takes milliseconds, so it has a turn of the event loop of its own.
  await nextTurn()
  void parquet.finish()
  yield take()
}

const optional = { repetition_type: 'OPTIONAL' } as const
const utcMillis = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } as const
const textElement = { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional } as const

function elementsOf(name: string, kind: MetadataKind): SchemaElement[] {
  if (kind === 'list') {
    const list = { name, converted_type: 'LIST', num_children: 1, ...optional } as const
    const items = { name: 'list', repetition_type: 'REPEATED', num_children: 1 } as const
    return [list, items, { name: 'element', ...textElement }]
  }
  if (kind === 'money')
    return [{ name, type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 6, ...optional }]
  if (kind === 'instant')
    return [{ name, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', logical_type: utcMillis, ...optional }]
  return [{ name, ...textElement }]
}

/** Money is the unscaled number of a text of six decimals: a double would not be exact. */
const storedValue = (kind: MetadataKind, value: unknown) =>
  kind === 'money' && value ? BigInt((value as string).replace('.', '')) : value
