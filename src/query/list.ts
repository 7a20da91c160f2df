import type { Static, TObject } from '@sinclair/typebox'
import { type listParameters, pageLimitDefault } from '../../schema/page.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { ch, type Fragment, text } from '../stores/clickhouse/sql.ts'
import { presentOf } from './calendarRanges.ts'
import { inRange } from './conditions.ts'
import { fingerprint, type PageKey, rangeEndOf, readCursor, withRangeEnd, writeCursor } from './pagination.ts'
import type { ListedResource, PlanCaller } from './readContext.ts'
import { onlyRetained, type RetainedFrom, retainedFrom, retainedMsOf } from './retained.ts'
import { boundedRange, openRange, type Range, readInstant } from './timeRange.ts'
import { readTimeZone } from './timeZone.ts'

/** Query plan of one page of a list in ClickHouse. */
export interface ListPlan {
  accountId: string
  currency: string
  range: Partial<Range>
  /** IANA name of the time zone of the range. */
  tz: string
  /** From when rows are retained, if the list starts before. */
  retained: RetainedFrom
  isOldestFirst: boolean
  /** If set, the list is ordered by `storedAt`, oldest first, starting at this time, epoch milliseconds. */
  updatedSinceMs: number | undefined
  /** The watermark, the exclusive end of an order by `storedAt`. It is read before the rows. */
  asOfMs?: number | undefined
  limit: number
  /** Fields of the response; undefined: all. */
  selected?: ReadonlySet<string> | undefined
  /** Sort key of the last row of the previous page; undefined for the first page. */
  after: PageKey | undefined
  /** What cursors of this list are bound to: the fingerprint of account and filters, and the end of a range of `days` or `range`. */
  boundTo: string
}

type ListQuery = Static<TObject<ReturnType<typeof listParameters>>>

/**
 * Builds the query plan of a page without its filters; no I/O.
 * @param normalFilters filters of the query in a form that is the same for equal filters, by their parameters
 * @throws Problem `invalid_range`, `invalid_order`, `invalid_updated_since`, `invalid_updated_after`, `invalid_tz`, `invalid_from`, `invalid_to`,
 *   `invalid_date_range`, `invalid_cursor`
 */
export function planList(
  list: ListedResource,
  query: ListQuery,
  { accountId, currency, retained }: PlanCaller,
  nowMs: number,
  normalFilters: Readonly<Record<string, unknown>> = {},
): ListPlan {
  const { limit, cursor, order } = query
  const updatedSinceMs = readUpdatedSince(query)
  const isOldestFirst = order === 'asc' || updatedSinceMs !== undefined
  const tz = readTimeZone(query.tz ?? 'UTC')
  const normal = { ...normalFilters, order: isOldestFirst ? 'asc' : undefined, tz: tz === 'UTC' ? undefined : tz }
  const ofFilters = fingerprint(accountId, list, { ...query, ...normal, fields: undefined })
  const { range, boundTo } = readRange(query, tz, nowMs, ofFilters)
  const retainedMs = retainedMsOf(list, retained)
  return {
    accountId,
    currency,
    tz,
    range: onlyRetained(range, retainedMs),
    retained: retainedFrom(range.fromMs, retainedMs),
    isOldestFirst,
    updatedSinceMs,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    boundTo,
  }
}

/** With `days` and `range`, cursors carry the end of the range, so that all pages have the range of the first one. */
function readRange(
  query: ListQuery,
  tz: string,
  nowMs: number,
  ofFilters: string,
): { range: Partial<Range>; boundTo: string } {
  const { from, days, range: name, cursor } = query
  if (name === undefined && (days === undefined || from !== undefined))
    return { range: openRange(query, tz), boundTo: ofFilters }
  const endMs = cursor === undefined ? undefined : rangeEndOf(cursor)
  const range = boundedRange(query, 0, tz, endMs === undefined ? nowMs : presentOf(name, endMs))
  return { range, boundTo: withRangeEnd(ofFilters, range.untilMs) }
}

/** `storedAt` has whole milliseconds, so rows after a time are those since the next millisecond. */
function readUpdatedSince({ order, updated_since: since, updated_after: after }: ListQuery): number | undefined {
  if (since === undefined && after === undefined) return undefined
  if (since !== undefined && after !== undefined) {
    throw invalidParameter('updated_after', 'and updated_since exclude each other; send one of them.')
  }
  const sinceMs =
    since === undefined ? readInstant('updated_after', after as string) + 1 : readInstant('updated_since', since)
  if (order !== 'desc') return sinceMs
  const message = 'With updated_since or updated_after, order must be asc or omitted.'
  throw new Problem('invalid_order', message, { param: 'order' })
}

/**
 * The order of a list in SQL, and the conditions of its account, range and watermark.
 * @param time the column that ranges apply to, which orders the list unless it is ordered by `storedAt`
 */
export function listSql(plan: ListPlan, time: Fragment): { at: Fragment; direction: Fragment; conditions: Fragment[] } {
  const { accountId, range, isOldestFirst, updatedSinceMs, asOfMs } = plan
  const isByStoredAt = updatedSinceMs !== undefined
  return {
    at: isByStoredAt ? ch`stored_at` : time,
    direction: isOldestFirst ? ch`ASC` : ch`DESC`,
    conditions: [
      ch`account_id = ${text(accountId)}`,
      ...inRange(time, range),
      ...(isByStoredAt ? inRange(ch`stored_at`, { fromMs: updatedSinceMs, untilMs: asOfMs }) : []),
    ],
  }
}

/** One page of a response. */
export interface PageRows<Row> {
  data: Row[]
  nextCursor: string | null
  hasMore: boolean
}

/**
 * Reads the next rows of a list after a key. The page needs `missing` more rows.
 * @returns rows in the order of the list, the key after which the source continues, and whether it has no more rows
 */
export type Source<Key, Row> = (
  after: Key | undefined,
  missing: number,
) => Promise<{ rows: Row[]; next: Key | undefined; isEnd: boolean }>

/**
 * Reads a page of a list from its sources.
 * @param after key of the last row of the previous page
 * @param keyOf the key of a row in cursors
 */
export async function readPage<Key, Row>(
  sources: readonly Source<Key, Row>[],
  after: Key | undefined,
  { limit, boundTo }: { limit: number; boundTo: string },
  keyOf: (row: Row) => PageKey,
): Promise<PageRows<Row>> {
  return toPage(await readNext(sources, after, limit + 1), limit, keyOf, boundTo)
}

/**
 * Reduces `limit + 1` rows to a page; the additional row shows that there are more.
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

/**
 * Reads a list from its sources, each until it has no more rows, until there are `limit` rows.
 * @param after key of the last row of the previous page
 * @returns up to `limit` rows, fewer only when there are no more
 */
export async function readNext<Key, Row>(
  sources: readonly Source<Key, Row>[],
  after: Key | undefined,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const read of sources) {
    let [next, isEnd] = [after, false]
    while (!isEnd) {
      const part = await read(next, limit - rows.length)
      rows.push(...part.rows)
      if (rows.length >= limit) return rows.slice(0, limit)
      next = part.next
      isEnd = part.isEnd
    }
  }
  return rows
}

/** A key of a list; of events also the rest of the sort key. */
type CandidateKey = PageKey & { origin?: string; generation?: number }

/** How often keys of candidates are read, the second time twice as many, before the keys of rows that match. */
const candidateReads = 2

/** Most keys of one statement after the first: they are one parameter, which ClickHouse limits to 128 KiB. */
const keysAtOnce = 500

/** Keys read in addition to the missing rows, since a row may not match in its latest version, or be a copy. */
const spareKeys = 8

/**
 * A source of rows that have several versions or copies until a merge. It reads the keys of candidates in the order of the list, then
 * the rows at these keys, so that a page costs the same at any depth.
 * @param read `keys` reads the next keys after a key, and may repeat them; with `isExact` it reads only keys of rows that match.
 *   `rows` reads the rows at keys that match, in the order of the keys. `keysPerRow` is the number of candidates for each row, by default 1
 */
export function byKey<Key extends CandidateKey, Row>(read: {
  keys(after: Key | undefined, limit: number, isExact: boolean): Promise<Key[]>
  rows(keys: Key[]): Promise<Row[]>
  keysPerRow?: number
}): Source<Key, Row> {
  const { keysPerRow = 1 } = read
  let reads = 0
  return async (after, missing) => {
    const isExact = ++reads > candidateReads
    const keysMax = isExact ? missing + spareKeys : Math.ceil(keysPerRow * missing * 2 ** (reads - 1)) + spareKeys
    const found = await read.keys(after, keysMax, isExact)
    const keys = withoutRepetitions(found)
    const rows: Row[] = []
    for (let first = 0; first < keys.length && rows.length < missing; ) {
      const next = keys.slice(first, first === 0 ? missing + spareKeys : first + keysAtOnce)
      rows.push(...(await read.rows(next)))
      first += next.length
    }
    return { rows, next: found.at(-1), isEnd: found.length < keysMax }
  }
}

/** @returns the rows without those that repeat the key of the row before: copies and versions are adjacent */
export function withoutRepetitions<Row extends CandidateKey>(rows: readonly Row[]): Row[] {
  return rows.filter((row, index) => {
    const before = rows[index - 1]
    return !before || (['atMs', 'id', 'origin', 'generation'] as const).some((name) => row[name] !== before[name])
  })
}
