import type { TProperties, TSchema } from '@sinclair/typebox'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Cell } from '../../rows/csvWriter.ts'
import type { RowEncoder } from './rowEncoder.ts'

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

/** A column of a Parquet file. */
interface Column {
  name: string
  elements: SchemaElement[]
  /** Converts a value that is not null. */
  convert(value: NonNullable<Cell>): unknown
}

/**
 * Creates the encoder of a Parquet file of metadata, which is in Postgres; ClickHouse writes the files of rows that it stores.
 * Columns have the types that ClickHouse gives to such fields: amounts are `Decimal(18, 6)`, times are milliseconds in UTC,
 * lists are lists of texts. Each part is one row group.
 * @param fields schema of each column
 */
export function parquetEncoder(fields: TProperties): RowEncoder {
  const columns = Object.entries(fields).map(([name, type]) => columnOf(name, type))
  const bytes = new ByteWriter()
  const root = { name: 'schema', num_children: columns.length }
  const schema = [root, ...columns.flatMap(({ elements }) => elements)]
  const parquet = new ParquetWriter({ writer: bytes, schema, createdBy: 'tributary' })

  /** Takes the bytes written so far; the offsets in the file go on. */
  function take(): Buffer {
    const taken = Buffer.from(bytes.getBytes())
    bytes.index = 0
    return taken
  }

  return {
    begin: take,
    encode(rows) {
      const columnData = columns.map(({ name, convert }) => ({
        name,
        data: rows.map((row) => {
          const value = row[name] ?? null
          return value === null ? null : convert(value)
        }),
      }))
      // Without a Promise, because the writer does not flush.
      void parquet.write({ columnData, rowGroupSize: Math.max(1, rows.length) })
      return take()
    },
    end() {
      void parquet.finish()
      return take()
    },
  }
}

function columnOf(name: string, schema: TSchema): Column {
  const type = [schema.type].flat()[0]
  if (type === 'array') return list(name)
  if (type === 'number') return amount(name)
  return schema.format === 'date-time' ? instant(name) : text(name)
}

const optional = 'OPTIONAL' as const

function text(name: string): Column {
  const element = { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: optional } as const
  return { name, elements: [element], convert: (value) => value }
}

function instant(name: string): Column {
  const element = { name, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: optional } as const
  return { name, elements: [element], convert: (value) => new Date(value as string) }
}

function amount(name: string): Column {
  const decimal = { type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 6 } as const
  // The unscaled value: a product of doubles would not be exact.
  const convert = (value: NonNullable<Cell>) => BigInt((value as number).toFixed(6).replace('.', ''))
  return { name, elements: [{ name, ...decimal, repetition_type: optional }], convert }
}

function list(name: string): Column {
  const elements: SchemaElement[] = [
    { name, converted_type: 'LIST', repetition_type: optional, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: optional },
  ]
  return { name, elements, convert: (value) => value }
}
