import type { EventListQuery } from '../../../../schema/eventList.ts'
import { type EventKey, parseEventKey } from '../../../query/eventKey.ts'
import { type ListPlan, planList } from '../../../query/listPlan.ts'
import type { PlanCaller } from '../../../query/readContext.ts'

export const filterColumns = ['origin', 'campaign_id', 'click_id', 'visitor_id'] as const

export interface EventListPlan extends ListPlan {
  /** Undefined: all names. */
  eventNames: string[] | undefined
  /** The other filters, each by the column of its name. */
  columns: Pick<EventListQuery, (typeof filterColumns)[number]>
  /** Key of the last row of the previous page; undefined for the first page. */
  afterEvent: EventKey | undefined
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`
 */
export function planEventList(query: EventListQuery, caller: PlanCaller, nowMs: number): EventListPlan {
  const eventNames = query.event_name === undefined ? undefined : [...new Set(query.event_name.split(','))].sort()
  const list = planList('events', query, caller, nowMs, { event_name: eventNames })
  return { ...list, eventNames, columns: query, afterEvent: parseEventKey(list.after) }
}
