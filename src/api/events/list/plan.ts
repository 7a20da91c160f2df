import type { EventListQuery } from '../../../../schema/eventList.ts'
import { namesInTree } from '../../../../schema/filters.ts'
import { type EventKey, parseEventKey } from '../../../query/eventKey.ts'
import { readAllFilters } from '../../../query/filters.ts'
import type { Filter } from '../../../query/filterTree.ts'
import { type ListPlan, planList } from '../../../query/listPlan.ts'
import type { PlanCaller } from '../../../query/readContext.ts'

export const filterColumns = ['origin', 'campaign_id', 'click_id', 'visitor_id'] as const

export interface EventListPlan extends ListPlan {
  /** Undefined: all names. */
  eventNames: string[] | undefined
  /** Conditions of the parameter `filters`. */
  filters: readonly Filter[]
  /** The other filters, each by the column of its name. */
  columns: Pick<EventListQuery, (typeof filterColumns)[number]>
  /** Key of the last row of the previous page; undefined for the first page. */
  afterEvent: EventKey | undefined
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`, or `invalid_filters`
 */
export function planEventList(query: EventListQuery, caller: PlanCaller, nowMs: number): EventListPlan {
  const eventNames = query.event_name === undefined ? undefined : [...new Set(query.event_name.split(','))].sort()
  const { filters: tree } = query
  const { filters, canonical } = readAllFilters(tree === undefined ? {} : { filters: tree }, namesInTree.events)
  const list = planList('events', query, caller, nowMs, { event_name: eventNames, filters: canonical })
  return { ...list, eventNames, filters, columns: query, afterEvent: parseEventKey(list.after) }
}
