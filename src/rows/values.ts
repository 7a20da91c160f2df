import { subIdNames } from '../../schema/click.ts'
import { identifier, join } from '../stores/clickhouse/sql.ts'

/** How values leave ClickHouse in rows of clicks and conversions, and how they leave us. */

/** Tracking parameters in a select list. */
export const subIdColumns = join(subIdNames.map(identifier), ', ')

/** The tracking parameters of a row as they are stored: empty when absent. */
export type StoredSubIds = Record<(typeof subIdNames)[number], string>

/** @returns all ten, those that are absent as null */
export function toSubIds(row: StoredSubIds): Record<string, string | null> {
  return Object.fromEntries(subIdNames.map((name) => [name, row[name] || null]))
}

/** Absent text is stored as the empty string. */
export function toText(stored: string): string | null {
  return stored || null
}

/** Amounts come as decimal text; the nearest double leaves. */
export function toAmount(stored: string | null): number | null {
  return stored === null ? null : Number(stored)
}
