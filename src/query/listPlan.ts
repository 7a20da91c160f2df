import type { Static, TObject } from '@sinclair/typebox'
import { namesInTree } from '../../schema/filters.ts'
import { type listParameters, pageLimitDefault } from '../../schema/page.ts'
import { invalidParameter, Problem } from '../problem.ts'
import { ch, type Fragment, text } from '../stores/clickhouse/sql.ts'
import { presentOf } from './calendarRanges.ts'
import { inRange } from './conditions.ts'
import { type FilterQuery, inStoredCase, readAllFilters } from './filters.ts'
import { fingerprint, parseCursor, rangeEndOf } from './pagination.ts'
import type { ListedResource, PlanCaller } from './readContext.ts'
import { onlyRetained, retainedFrom, retainedMsOf } from './retained.ts'
import { boundedRange, openRange, parseInstant, type Range } from './timeRange.ts'
import { parseTimeZone } from './timeZone.ts'

/** Query plan of one page of a list in ClickHouse. */
export interface ListPlan extends ReturnType<typeof planList> {
  /** The watermark, the exclusive end of an order by `storedAt`. It is read before the rows. */
  asOfMs?: number | undefined
  /** Fields of the response; undefined: all. */
  selected?: ReadonlySet<string> | undefined
}

/** The parameters of a list, without its filters. */
export type ListQuery = Static<TObject<ReturnType<typeof listParameters>>>

/**
 * Builds the query plan of a page; no I/O.
 * @param normalFilters some filters of the query in a form that is the same for equal filters, by their parameters
 * @param filterQuery the parameters that are filters of attributes
 * @throws Problem `invalid_<filter>`, `invalid_filters`, `invalid_range`, `invalid_order`, `invalid_updated_since`, `invalid_updated_after`,
 *   `invalid_tz`, `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_cursor`
 */
export function planList(
  list: ListedResource,
  query: ListQuery & FilterQuery,
  caller: PlanCaller,
  nowMs: number,
  normalFilters: Readonly<Record<string, unknown>> = {},
  filterQuery: FilterQuery = query,
) {
  const { accountId, currency, retained, view } = caller
  const { filters, canonical } = readAllFilters(filterQuery, namesInTree[list], caller)
  const updatedSinceMs = parseUpdatedSince(query)
  const isOldestFirst = query.order === 'asc' || updatedSinceMs !== undefined
  const tz = parseTimeZone(query.tz ?? 'UTC')
  const normal = { ...inStoredCase(query), filters: canonical, ...normalFilters }
  const order = isOldestFirst ? 'asc' : undefined
  const zone = tz === 'UTC' ? undefined : tz
  const ofList = { order, tz: zone, fields: undefined, view: view?.id }
  const ofFilters = fingerprint(accountId, list, { ...query, ...normal, ...ofList })
  const { range, boundTo } = parseRange(query, tz, nowMs, ofFilters)
  const retainedMs = retainedMsOf(list, retained)
  return {
    accountId,
    currency,
    /** Conditions on the rows, combined with AND. */
    filters,
    /** IANA name of the time zone of the range. */
    tz,
    range: onlyRetained(range, retainedMs),
    /** From when rows are retained, if the list starts before. */
    retained: retainedFrom(range.fromMs, retainedMs),
    isOldestFirst,
    /** If set, the list is ordered by `storedAt`, oldest first, starting at this time, epoch milliseconds. */
    updatedSinceMs,
    limit: query.limit ?? pageLimitDefault,
    /** Sort key of the last row of the previous page; undefined for the first page. */
    after: parseCursor(query.cursor, boundTo),
    /** What cursors of this list are bound to: the fingerprint of account and filters, and the end of a range of `days` or `range`. */
    boundTo,
    nowMs,
  }
}

/** With `days` and `range`, cursors carry the end of the range, so that all pages have the range of the first one. */
function parseRange(query: ListQuery, tz: string, nowMs: number, ofFilters: string) {
  const { from, days, range: name, cursor } = query
  if (name === undefined && (days === undefined || from !== undefined))
    return { range: openRange(query, tz), boundTo: ofFilters }
  const endMs = cursor === undefined ? undefined : rangeEndOf(cursor)
  const range: Partial<Range> = boundedRange(query, 0, tz, endMs === undefined ? nowMs : presentOf(name, endMs))
  return { range, boundTo: `${ofFilters}-${range.untilMs}` }
}

/** `storedAt` has whole milliseconds, so rows after a time are those since the next millisecond. */
function parseUpdatedSince({ order, updated_since: since, updated_after: after }: ListQuery): number | undefined {
  if (since === undefined && after === undefined) return undefined
  if (since !== undefined && after !== undefined) {
    throw invalidParameter('updated_after', 'and updated_since exclude each other; send one of them.')
  }
  const sinceMs =
    since === undefined ? parseInstant('updated_after', after as string) + 1 : parseInstant('updated_since', since)
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

/** @returns the latest time at which a page, newest first, begins, epoch milliseconds; rows in the future are later */
export function newestEndMs({ after, range, nowMs }: ListPlan): number {
  return after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
}
