import { listText, quoted } from '../rows/csv.ts'

/** A field of a Postgres row and the formats of its value. */
export interface Field {
  name: string
  column: string
  /** @param value not null */
  json(value: never): string
  /** @param value not null */
  cell(value: never): string
}

type Row = Readonly<Record<string, unknown>>

export const text = (name: string, column = name): Field => ({ name, column, json: JSON.stringify, cell: quoted })

const instantText = (value: Date) => `"${value.toISOString()}"`

export const instant = (name: string, column = name): Field => ({ name, column, json: instantText, cell: instantText })

/** Amounts are read and written as decimal text, because a double does not represent all of them exactly. */
const shortest = (decimal: string) => decimal.replace(/\.?0*$/, '')

export const money = (name: string, column = name): Field => ({ name, column, json: shortest, cell: shortest })

const listCell = (items: readonly string[]) => (items.length === 0 ? '' : quoted(listText(items)))

export const list = (name: string, column = name): Field => ({ name, column, json: JSON.stringify, cell: listCell })

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
