import type { ClickQuery } from '../../../schema/click.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { type ColumnFilter, type Filter, readColumnFilters, readFilters } from '../../query/filters.ts'
import { cursorBinding, type ListOrder, planListOrder } from '../../query/listOrder.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { onlyRetained, type RetainedFrom, retainedFrom } from '../../query/retained.ts'
import { listRange, type Range } from '../../query/timeRange.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

/** Query plan of one page of clicks. */
export interface ClickPlan {
  accountId: string
  baseCurrency: string
  range: Partial<Range>
  retained: RetainedFrom
  filters: readonly Filter[]
  columnFilters: readonly ColumnFilter[]
  isBot: boolean | undefined
  isTest: boolean | undefined
  converted: boolean | undefined
  order: ListOrder
  limit: number
  /** Sort key of the last row of the previous page; undefined for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
  nowMs: number
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_order`, `invalid_updated_since`,
 *   `invalid_updated_after`, `invalid_cursor`, or `invalid_<filter>`
 */
export function planClicks(
  query: ClickQuery,
  caller: { accountId: string; currency: string; retained: RetainedRanges },
  nowMs: number,
): ClickPlan {
  const { limit, cursor, fields: _fields, format: _format, csv_escape: _escape, order: _order, ...filters } = query
  const order = planListOrder(query)
  const range = listRange(query)
  const boundTo = fingerprint(caller.accountId, 'clicks', { ...filters, ...cursorBinding(order) })
  return {
    accountId: caller.accountId,
    baseCurrency: caller.currency,
    range: onlyRetained(range, caller.retained.clicksMs),
    retained: retainedFrom(range.fromMs, caller.retained.clicksMs),
    filters: readFilters(query),
    columnFilters: readColumnFilters(query),
    isBot: query.is_bot,
    isTest: query.is_test,
    converted: query.converted,
    order,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    fingerprint: boundTo,
    nowMs,
  }
}
