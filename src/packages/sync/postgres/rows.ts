import type { Row } from '../source/received.ts'
import { type Resource, subIdNames } from '../source/resources.ts'

/** @returns the SQL type of a field */
export function sqlType({ fields }: Resource, field: string): string {
  return `${fields[field]}`.replace(/ NOT NULL$/, '')
}

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
  for (const row of last.values()) {
    const subIds = Object.entries(row.subIds ?? {})
    for (const [name, value] of subIds) if (subIdNames.has(name)) row[name] = value
  }
  return JSON.stringify([...last.values()])
}
