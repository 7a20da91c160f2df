import type { EventOrigin } from '../../../schema/event.ts'
import type { EventListQuery } from '../../../schema/eventList.ts'
import { type EventKey, parseEventKey } from '../../query/eventKey.ts'
import { type ListPlan, planList } from '../../query/listPlan.ts'
import type { RetainedRanges } from '../../stores/postgres/retainedRanges.ts'

export interface EventListPlan extends ListPlan {
  /** Undefined: all names. */
  eventNames: string[] | undefined
  origin: EventOrigin | undefined
  campaignId: string | undefined
  clickId: string | undefined
  visitorId: string | undefined
  /** Key of the last row of the previous page; undefined for the first page. */
  afterEvent: EventKey | undefined
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`
 */
export function planEventList(
  query: EventListQuery,
  caller: { accountId: string; currency: string; retained: RetainedRanges },
  nowMs: number,
): EventListPlan {
  const eventNames = query.event_name === undefined ? undefined : [...new Set(query.event_name.split(','))].sort()
  const list = planList('events', query, caller, caller.retained.eventsMs, nowMs, { event_name: eventNames })
  return {
    ...list,
    eventNames,
    origin: query.origin,
    campaignId: query.campaign_id,
    clickId: query.click_id,
    visitorId: query.visitor_id,
    afterEvent: parseEventKey(list.after),
  }
}
