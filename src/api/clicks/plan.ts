import type { ClickQuery } from '../../../schema/click.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { cursorBinding, type ListOrder, planListOrder } from '../../query/listOrder.ts'
import { fingerprint, type PageKey, readCursor } from '../../query/pagination.ts'
import { listRange, type Range } from '../../query/timeRange.ts'

/** One page of clicks, decided. */
export interface ClickPlan {
  accountId: string
  baseCurrency: string
  range: Partial<Range>
  campaignId: string | undefined
  offerId: string | undefined
  converted: boolean | undefined
  order: ListOrder
  limit: number
  /** Sort key of the last row of the previous page; absent for the first page. */
  after: PageKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
  nowMs: number
}

/**
 * Decides which clicks a page is read from; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_order`, `invalid_updated_since`, `invalid_cursor`
 */
export function planClicks(
  query: ClickQuery,
  caller: { accountId: string; currency: string },
  nowMs: number,
): ClickPlan {
  const { limit, cursor, format: _format, csv_escape: _escape, order: _order, ...filters } = query
  const walk = planListOrder(query)
  const boundTo = fingerprint(caller.accountId, 'clicks', { ...filters, ...cursorBinding(walk) })
  return {
    accountId: caller.accountId,
    baseCurrency: caller.currency,
    range: listRange(query),
    campaignId: query.campaign_id,
    offerId: query.offer_id,
    converted: query.converted,
    order: walk,
    limit: limit ?? pageLimitDefault,
    after: readCursor(cursor, boundTo),
    fingerprint: boundTo,
    nowMs,
  }
}
