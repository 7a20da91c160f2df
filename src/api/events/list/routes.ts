import { EventRow } from '../../../../schema/event.ts'
import { EventListQuery, EventPage, EventPath } from '../../../../schema/eventList.ts'
import { CompleteRow } from '../../../../schema/fields.ts'
import type { App, RouteContext } from '../../../http/context.ts'
import { parseEventKey } from '../../../query/eventKey.ts'
import { planList } from '../../../query/listPlan.ts'
import type { PlanCaller } from '../../../query/readContext.ts'
import { addList } from '../../listResponse.ts'
import { eventExportSql } from './export.ts'
import { type EventListPlan, findEvent, listEvents } from './page.ts'

export function eventListRoutes(app: App, context: RouteContext): void {
  addList(app, context, {
    resource: 'events',
    scope: 'read:events',
    // An event has no other filters of a key.
    servesView: ({ filters }) => Object.keys(filters).every((name) => name === 'campaign_id'),
    description:
      'Events of your server and of the pixel, newest first. Filters and ranges apply to `occurredAt`. Properties are an object in JSON, and JSON text in exports.',
    query: EventListQuery,
    page: EventPage,
    makePlan: planEventList,
    listRows: listEvents,
    exportSql: eventExportSql,
  })
  app.get('/events/:id', {
    schema: {
      tags: ['Events'],
      summary: 'Get an event',
      description: 'The newest server event with this `event_id`.',
      params: EventPath,
      response: { 200: CompleteRow(EventRow) },
    },
    config: { scope: 'read:events' },
    handler: ({ caller, params, signal }) => findEvent({ ...context, signal }, caller.accountId, params.id),
  })
}

/**
 * Builds the query plan of a page; no I/O.
 * @throws Problem as `planList`
 */
export function planEventList(query: EventListQuery, caller: PlanCaller, nowMs: number): EventListPlan {
  const eventNames = query.event_name === undefined ? undefined : [...new Set(query.event_name.split(','))].sort()
  const list = planList('events', query, caller, nowMs, { event_name: eventNames }, { filters: query.filters })
  return { ...list, eventNames, columns: query, afterEvent: parseEventKey(list.after) }
}
