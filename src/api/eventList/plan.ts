import type { EventOrigin } from '../../../schema/event.ts'
import type { EventListQuery } from '../../../schema/eventList.ts'
import { pageLimitDefault } from '../../../schema/page.ts'
import { type EventKey, parseEventKey } from '../../query/eventKey.ts'
import { cursorBinding, type ListOrder, planListOrder } from '../../query/listOrder.ts'
import { fingerprint, readCursor } from '../../query/pagination.ts'
import { onlyRetained, type RetainedFrom, retainedFrom } from '../../query/retained.ts'
import { listRange, type Range } from '../../query/timeRange.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

/** Query plan of one page of events. */
export interface EventListPlan {
  accountId: string
  range: Partial<Range>
  retained: RetainedFrom
  /** Undefined: all names. */
  eventNames: string[] | undefined
  origin: EventOrigin | undefined
  campaignId: string | undefined
  clickId: string | undefined
  visitorId: string | undefined
  order: ListOrder
  limit: number
  /** Key of the last row of the previous page; undefined for the first page. */
  after: EventKey | undefined
  /** Fingerprint that cursors of this list carry. */
  fingerprint: string
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`, `invalid_order`, `invalid_updated_since`,
 *   `invalid_updated_after`, `invalid_cursor`
 */
export function planEventList(
  query: EventListQuery,
  caller: { accountId: string; retained: RetainedRanges },
): EventListPlan {
  const { limit, cursor, fields: _fields, format: _format, csv_escape: _escape, order: _order, ...filters } = query
  const order = planListOrder(query)
  const range = listRange(query)
  const eventNames = query.event_name && [...new Set(query.event_name.split(','))].sort()
  const boundTo = fingerprint(caller.accountId, 'events', {
    ...filters,
    event_name: eventNames,
    ...cursorBinding(order),
  })
  return {
    accountId: caller.accountId,
    range: onlyRetained(range, caller.retained.eventsMs),
    retained: retainedFrom(range.fromMs, caller.retained.eventsMs),
    eventNames: eventNames || undefined,
    origin: query.origin,
    campaignId: query.campaign_id,
    clickId: query.click_id,
    visitorId: query.visitor_id,
    order,
    limit: limit ?? pageLimitDefault,
    after: parseEventKey(readCursor(cursor, boundTo)),
    fingerprint: boundTo,
  }
}
