import { listText, quoted } from '../rows/csvWriter.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import type { MetadataKind } from '../stores/postgres/metadataFields.ts'

/** The formats of a value. */
interface Format {
  /** @param value not null */
  json(value: never): string
  /** @param value not null */
  cell(value: never): string
}

/** A field of a Postgres row and the formats of its value. */
interface Field extends Format {
  name: string
  column: string
}

function instantText(value: Date): string {
  return `"${value.toISOString()}"`
}

type Row = Readonly<Record<string, unknown>>

/** Amounts are read and written as decimal text, because a double does not represent all of them exactly. */
const shortest = (decimal: string) => decimal.replace(/\.?0*$/, '')

const text: Format = { json: JSON.stringify, cell: quoted }

const formats: Record<MetadataKind, Format> = {
  required: text,
  status: text,
  text,
  money: { json: shortest, cell: shortest },
  list: {
    json: JSON.stringify,
    cell: (items: readonly string[]) => (items.length === 0 ? '' : quoted(listText(items))),
  },
  instant: { json: instantText, cell: instantText },
}

/** @returns the fields in their order, with their columns and formats */
export function formatsOf(fields: Readonly<Record<string, MetadataKind>>): readonly Field[] {
  return Object.entries(fields).map(([name, kind]) => ({ name, column: columnName(name), ...formats[kind] }))
}

/** @returns the row as a line of NDJSON */
export function jsonLine(fields: readonly Field[], row: Row): string {
  const pairs = fields.map(
    ({ name, column, json }) => `"${name}":${row[column] === null ? 'null' : json(row[column] as never)}`,
  )
  return `{${pairs.join(',')}}\n`
}

/** @returns the row as a line of CSV; absent values are empty */
export function csvLine(fields: readonly Field[], row: Row): string {
  return `${fields.map(({ column, cell }) => (row[column] === null ? '' : cell(row[column] as never))).join(',')}\n`
}
