import { quoted } from '../rows/csv.ts'

/** A field of a row out of Postgres, and how its value is written. */
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

export const moment = (name: string, column = name): Field => ({ name, column, json: instantText, cell: instantText })

/** Amounts come as decimal text, and leave digit by digit: a double would not hold all of them. */
const shortest = (decimal: string) => decimal.replace(/\.?0*$/, '')

export const money = (name: string, column = name): Field => ({ name, column, json: shortest, cell: shortest })

/** In a cell the items are separated by `|`, or, where that would not tell them apart, are a JSON list. */
const listCell = (items: readonly string[]) => {
  const joined = items.join('|')
  const isPlain = !joined.startsWith('[') && items.every((item) => item !== '' && !item.includes('|'))
  return items.length === 0 ? '' : quoted(isPlain ? joined : JSON.stringify(items))
}

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
