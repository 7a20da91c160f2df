import { createHash } from 'node:crypto'
import { eventIdLengthMax, idPatternOf } from '../../schema/scalars.ts'
import { invalidParameter, type Problem } from '../problem.ts'
import { ch, type Fragment, instant, text } from '../stores/clickhouse/sql.ts'

/** The full sort key of a page's last row, at column precision. */
export type PageKey = { atMs: number; id: string }

/**
 * The years that RFC 3339 can express, without year 0, which Postgres does not support. A forged cursor outside of them
 * would cause a database error.
 */
const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** Events in a journey have the longest ids: `event:browser:4294967295:` and the id. */
const keyId = new RegExp(idPatternOf(eventIdLengthMax + 'event:browser:4294967295:'.length))

/** Parameters that do not change which rows a list has. */
const notFilters = ['limit', 'cursor', 'format', 'csv_escape', 'csv_bom', 'csv_decimal']

/**
 * Computes the fingerprint that binds a cursor to the account, the list and its filters, in any order.
 * @param filters may be the whole query
 * @returns 16 hexadecimal characters
 */
export function fingerprint(accountId: string, list: string, filters: Record<string, unknown>): string {
  const given = Object.entries(filters)
    .filter(([name, value]) => value !== undefined && !notFilters.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([accountId, list, given]))
    .digest('hex')
    .slice(0, 16)
}

/** @returns the end of the range that a cursor carries after its fingerprint, epoch milliseconds; undefined if it carries none */
export function rangeEndOf(cursor: string): number | undefined {
  const [bound] = decodeCursor(cursor)
  const [, untilMs] = (typeof bound === 'string' && /^[0-9a-f]{16}-(\d{1,13})$/.exec(bound)) || []
  return untilMs === undefined ? undefined : Number(untilMs)
}

/** Encodes a cursor: opaque to clients, never expires, since it contains a sort key and refers to no state. */
export function writeCursor(key: PageKey, boundTo: string): string {
  return Buffer.from(JSON.stringify([boundTo, key.atMs, key.id])).toString('base64url')
}

/**
 * The cursor that ClickHouse adds to each row of an export: plain text, since encoding millions of rows takes time.
 */
export function cursorOf(at: Fragment, id: Fragment, boundTo: string): Fragment {
  return ch`concat(${text(`${boundTo}.`)}, toString(toUnixTimestamp64Milli(${at})), '.', ${id})`
}

const cursorOfRow = /^([0-9a-f]{16}(?:-\d{1,13})?)\.(-?\d{1,15})\.(.+)$/

/** The error for a cursor that was not returned by this list with these filters. */
export function invalidCursor(): Problem {
  return invalidParameter('cursor', 'does not belong to these filters; start again without it.')
}

/**
 * Decodes a cursor.
 * @throws Problem `invalid_cursor` when it is malformed, or belongs to other filters or to another account
 */
export function parseCursor(cursor: string | undefined, boundTo: string): PageKey | undefined {
  if (cursor === undefined) return undefined
  const parts = decodeCursor(cursor)
  const [bound, atMs, id] = parts
  if (parts.length !== 3 || bound !== boundTo || !Number.isSafeInteger(atMs) || typeof id !== 'string')
    throw invalidCursor()
  if ((atMs as number) < earliestMs || (atMs as number) > latestMs || !keyId.test(id)) throw invalidCursor()
  return { atMs: atMs as number, id }
}

/** @returns what a cursor is bound to, time and id, all unchecked; an empty list if it is malformed */
function decodeCursor(cursor: string): unknown[] {
  const [, bound, at, id] = cursorOfRow.exec(cursor) ?? []
  if (bound !== undefined) return [bound, Number(at), id]
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** Condition: the row comes after `key` in the order of a list. */
export function isAfter(key: PageKey | undefined, at: Fragment, id: Fragment, isOldestFirst = false): Fragment {
  return key ? afterKey(at, id, key.atMs, ch`${text(key.id)}`, isOldestFirst) : ch`1`
}

/**
 * Condition: the row comes after a sort key. The second part implies the first, which lets the primary key prune.
 * @param columns the columns of the sort key after the time
 * @param values their values in the key
 */
export function afterKey(at: Fragment, columns: Fragment, atMs: number, values: Fragment, isOldestFirst: boolean) {
  const [row, key] = [ch`(${at}, ${columns})`, ch`(${instant(atMs)}, ${values})`]
  return isOldestFirst
    ? ch`${at} >= ${instant(atMs)} AND ${row} > ${key}`
    : ch`${at} <= ${instant(atMs)} AND ${row} < ${key}`
}
