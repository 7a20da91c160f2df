import { formatMillionths } from '../query/money.ts'
import { columnName } from '../stores/clickhouse/columnKinds.ts'
import { columnNames } from './header.ts'
import type { ImportName } from './resourceNames.ts'

/** @returns a row as it would be stored, JSON of the fields that have a value */
export function shownRow(resource: ImportName, row: object): string {
  const values = row as Readonly<Record<string, unknown>>
  const shown: Record<string, unknown> = {}
  for (const name of columnNames(resource)) {
    const value = values[name] ?? values[columnName(name)]
    if (typeof value === 'bigint') shown[name] = formatMillionths(value)
    else if (typeof value === 'number') shown[name] = name.endsWith('At') ? new Date(value).toISOString() : value
    else if (typeof value === 'string' ? value !== '' : Array.isArray(value)) shown[name] = value
  }
  return JSON.stringify(shown)
}
