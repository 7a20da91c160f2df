import { createHash } from 'node:crypto'
import { eventIdPattern } from '../../schema/scalars.ts'
import { Problem } from '../problem.ts'
import { ch, type Fragment, instant, text } from '../stores/clickhouse/sql.ts'

/** Where a page ends: the full sort key of its last row, at column precision. */
export interface PageKey {
  atMs: number
  id: string
}

/**
 * The years that RFC 3339 can write, but for year 0, which Postgres does not know. A forged cursor beyond them would be
 * an error of the store.
 */
const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** The longest ids are those of events. */
const keyId = new RegExp(eventIdPattern)

/** One page on its way out. */
export interface PageRows<Row> {
  data: Row[]
  nextCursor: string | null
  hasMore: boolean
}

/**
 * Fingerprints what a cursor is bound to: the account, the list and its filters, in any order.
 * @returns 16 hexadecimal characters
 */
export function fingerprint(accountId: string, list: string, filters: Record<string, unknown>): string {
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([accountId, list, given]))
    .digest('hex')
    .slice(0, 16)
}

/** Writes a cursor: opaque to callers, valid for ever, since it names a place and no state of ours. */
export function writeCursor(key: PageKey, boundTo: string): string {
  return Buffer.from(JSON.stringify([boundTo, key.atMs, key.id])).toString('base64url')
}

/**
 * The same place as ClickHouse writes it for each row of an export: in the clear, since encoding millions takes time.
 */
export function cursorOf(at: Fragment, id: Fragment, boundTo: string): Fragment {
  return ch`concat(${text(`${boundTo}.`)}, toString(toUnixTimestamp64Milli(${at})), '.', ${id})`
}

const cursorOfRow = /^([0-9a-f]{16})\.(-?\d{1,15})\.(.+)$/

/**
 * Reads a cursor back.
 * @throws Problem `invalid_cursor` when it is not one of ours, or was made for other filters or another account
 */
export function readCursor(cursor: string | undefined, boundTo: string): PageKey | undefined {
  if (cursor === undefined) return undefined
  const refused = new Problem('invalid_cursor', 'cursor is not one that these filters gave; start again without it.', {
    param: 'cursor',
  })
  let parts: unknown
  const [, rowBound, rowAt, rowId] = cursorOfRow.exec(cursor) ?? []
  if (rowBound !== undefined) parts = [rowBound, Number(rowAt), rowId]
  else {
    try {
      parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    } catch {
      throw refused
    }
  }
  if (!Array.isArray(parts) || parts.length !== 3) throw refused
  const [bound, atMs, id] = parts as unknown[]
  if (bound !== boundTo || !Number.isSafeInteger(atMs) || typeof id !== 'string') throw refused
  if ((atMs as number) < earliestMs || (atMs as number) > latestMs || !keyId.test(id)) throw refused
  return { atMs: atMs as number, id }
}

/**
 * The rows that come after `key` in newest-first order. The first condition is implied by the second; it is there
 * because the primary key prunes by it.
 */
export function after(key: PageKey | undefined, at: Fragment, id: Fragment): Fragment {
  if (!key) return ch`1`
  return ch`${at} <= ${instant(key.atMs)} AND (${at}, ${id}) < (${instant(key.atMs)}, ${text(key.id)})`
}

/** The rows that come after `key` in oldest-first order. */
export function afterOldest(key: PageKey | undefined, at: Fragment, id: Fragment): Fragment {
  if (!key) return ch`1`
  return ch`${at} >= ${instant(key.atMs)} AND (${at}, ${id}) > (${instant(key.atMs)}, ${text(key.id)})`
}

/**
 * Cuts `limit + 1` rows down to a page: the one too many tells that there is more.
 * @param rows at most `limit + 1` rows, in the order of the list
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => PageKey,
  boundTo: string,
): PageRows<Row> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const hasMore = rows.length > limit
  return { data, nextCursor: hasMore && last ? writeCursor(keyOf(last), boundTo) : null, hasMore }
}
