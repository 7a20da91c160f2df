import type { Row } from '../source/received.ts'
import { type ChangingResource, columnNameOf } from '../source/resources.ts'
import { recordColumns, sqlType } from './rows.ts'

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
export function otherRows(
  schema: string,
  resource: ChangingResource,
  day: string,
  { before, rows, last }: Part,
): { from: string; values: string[] } {
  const { name, key, time } = resource
  const timeColumn = `t.${columnNameOf(time)}`
  const values = [day, JSON.stringify(rows.map((row) => Object.fromEntries(key.map((field) => [field, row[field]]))))]
  const parameter = (row: Row, field: string) => `$${values.push(`${row[field]}`)}::text::${sqlType(resource, field)}`
  /** Rows after the position of another one, or at it. The API orders ids by their bytes. */
  const compared = (operator: string, row: Row) => {
    const columns = key.map(
      (field) => `t.${columnNameOf(field)}${sqlType(resource, field) === 'text' ? ' COLLATE "C"' : ''}`,
    )
    const at = parameter(row, time)
    const position = [at, ...key.map((field) => parameter(row, field))]
    // The second condition is the one that an index serves.
    return ` AND (${[timeColumn, ...columns].join(', ')}) ${operator} (${position.join(', ')}) AND ${timeColumn} ${operator[0]}= ${at}`
  }
  const start = before ? compared('<', before) : ''
  const end = last ? compared('>=', last) : ''
  return {
    from: `FROM ${schema}.${name} AS t
      WHERE ${timeColumn} >= $1::date::timestamp AT TIME ZONE 'UTC'
        AND ${timeColumn} < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'${start}${end}
        AND NOT EXISTS (
          SELECT FROM json_to_recordset($2::text::json) AS r(${recordColumns(resource, key)})
          WHERE ${key.map((field) => `r."${field}" = t.${columnNameOf(field)}`).join(' AND ')}
        )`,
    values,
  }
}
