import { inDays } from '../database/compare.ts'
import type { Row } from '../source/received.ts'
import { type ChangingResource, columnNameOf, type Resource, subIdNames } from '../source/resources.ts'

/** @returns the SQL type of a field */
const sqlType = ({ fields }: Resource, field: string): string => `${fields[field]}`.replace(/ NOT NULL$/, '')

/** @returns the columns of a record of JSON with these fields; JSON in an exported row is text */
export function recordColumns(resource: Resource, fields: readonly string[]): string {
  const typeOf = (field: string) => sqlType(resource, field)
  return fields.map((field) => `"${field}" ${typeOf(field) === 'json' ? 'text' : typeOf(field)}`).join(', ')
}

/**
 * Makes the sub-ids of each row fields of their own.
 * @returns a JSON array of the last row of each key: after a broken connection, an export may repeat a row that has changed
 */
export function jsonOf({ key }: Resource, rows: readonly Row[]): string {
  const last = new Map(rows.map((row) => [key.map((field) => row[field]).join(' '), row]))
  // Not into new objects: with this many fields they take ten times as long as parsing the row.
  for (const row of last.values())
    for (const [name, value] of Object.entries(row.subIds ?? {})) if (subIdNames.has(name)) row[name] = value
  return JSON.stringify([...last.values()])
}

/** A part of the rows of a UTC day, newest first. */
interface Part {
  /** The last row before the part; undefined if it starts with the day. */
  before: Row | undefined
  rows: readonly Row[]
  /** The last row of the part; undefined if it ends with the day. */
  last: Row | undefined
}

/**
 * The rows of a copy in a part of a day that are not among the rows of the part.
 * @param schema a checked name
 * @returns the FROM and WHERE of a statement, and its parameters
 */
export function otherRows(schema: string, resource: ChangingResource, day: string, { before, rows, last }: Part) {
  const { name, key, time } = resource
  const timeColumn = `t.${columnNameOf(time)}`
  const values = [day, JSON.stringify(rows.map((row) => Object.fromEntries(key.map((field) => [field, row[field]]))))]
  const parameter = (row: Row, field: string) => `$${values.push(`${row[field]}`)}::text::${sqlType(resource, field)}`
  /** Rows after the position of another one, or at it. The API orders ids by their bytes. */
  const compared = (operator: string, row: Row) => {
    const columns = key.map(
      (field) => `t.${columnNameOf(field)}${sqlType(resource, field) === 'text' ? ' COLLATE "C"' : ''}`,
    )
    const position = [time, ...key].map((field) => parameter(row, field))
    return ` AND (${[timeColumn, ...columns].join(', ')}) ${operator} (${position.join(', ')})`
  }
  const start = before ? compared('<', before) : ''
  const end = last ? compared('>=', last) : ''
  return {
    from: `FROM ${schema}.${name} AS t
      WHERE ${inDays(timeColumn, 1, 1)}${start}${end}
        AND NOT EXISTS (
          SELECT FROM json_to_recordset($2::text::json) AS r(${recordColumns(resource, key)})
          WHERE ${key.map((field) => `r."${field}" = t.${columnNameOf(field)}`).join(' AND ')}
        )`,
    values,
  }
}
