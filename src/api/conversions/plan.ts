import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { type ColumnFilter, type Filter, readColumnFilters, readFilters } from '../../query/filters.ts'
import { cursorBinding, type ListOrder, planListOrder } from '../../query/listOrder.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { listRange, type Range } from '../../query/timeRange.ts'

/** Query plan of one page of conversions. */
export interface ConversionPlan {
  accountId: string
  /** Currency of the account. */
  currency: string
  range: Partial<Range>
  filters: readonly Filter[]
  columnFilters: readonly ColumnFilter[]
  /** Undefined: all statuses. */
  statuses: string[] | undefined
  source: 'cpa' | 'revenue' | undefined
  withTests: boolean
  order: ListOrder
  limit: number
  /** Sort key of the last row of the previous page; undefined for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_order`, `invalid_updated_since`,
 *   `invalid_updated_after`, `invalid_cursor`, or `invalid_<filter>`
 */
export function planConversions(
  query: ConversionQuery,
  caller: { accountId: string; currency: string },
): ConversionPlan {
  const {
    limit,
    cursor,
    from,
    to,
    fields: _fields,
    format: _format,
    csv_escape: _escape,
    order: _order,
    ...filters
  } = query
  const order = planListOrder(query)
  const wanted = new Set(filters.status?.split(','))
  const statuses = filters.status === undefined ? undefined : conversionStatuses.filter((status) => wanted.has(status))
  const boundTo = fingerprint(caller.accountId, 'conversions', {
    ...filters,
    from,
    to,
    status: statuses,
    ...cursorBinding(order),
  })
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    range: listRange({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) }),
    filters: readFilters(query),
    columnFilters: readColumnFilters(query),
    statuses,
    source: filters.source === 'all' ? undefined : filters.source,
    withTests: filters.include_test_mode === true,
    order,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    fingerprint: boundTo,
  }
}
