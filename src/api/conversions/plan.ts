import { type ConversionQuery, conversionStatuses } from '../../../schema/conversion.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { cursorBinding, type ListOrder, planListOrder } from '../../query/listOrder.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { listRange, type Range } from '../../query/timeRange.ts'

/** One page of conversions, decided. */
export interface ConversionPlan {
  accountId: string
  /** Of the account. */
  currency: string
  range: Partial<Range>
  campaignId: string | undefined
  /** Undefined: all of them. */
  statuses: string[] | undefined
  source: 'cpa' | 'revenue' | undefined
  withTests: boolean
  order: ListOrder
  limit: number
  /** Sort key of the last row of the previous page; absent for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
}

/**
 * Decides which conversions a page is read from; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_order`, `invalid_updated_since`, `invalid_cursor`
 */
export function planConversions(
  query: ConversionQuery,
  caller: { accountId: string; currency: string },
): ConversionPlan {
  const { limit, cursor, from, to, format: _format, csv_escape: _escape, order: _order, ...filters } = query
  const walk = planListOrder(query)
  const wanted = new Set(filters.status?.split(','))
  const statuses = filters.status === undefined ? undefined : conversionStatuses.filter((status) => wanted.has(status))
  const boundTo = fingerprint(caller.accountId, 'conversions', {
    ...{ ...filters, from, to, status: statuses },
    ...cursorBinding(walk),
  })
  return {
    accountId: caller.accountId,
    currency: caller.currency,
    range: listRange({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) }),
    campaignId: filters.campaign_id,
    statuses,
    source: filters.source === 'all' ? undefined : filters.source,
    withTests: filters.include_test_mode === true,
    order: walk,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    fingerprint: boundTo,
  }
}
