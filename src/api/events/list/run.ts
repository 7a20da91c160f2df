import type { EventRow } from '../../../../schema/event.ts'
import { notFound } from '../../../problem.ts'
import { type EventKey, eventPageKey } from '../../../query/eventKey.ts'
import { readRows } from '../../../query/readContext.ts'
import { byKey, type PageRows, readPage } from '../../../query/readPage.ts'
import { readEventsByKey, type StoredEventRow, toEventRows } from '../../../rows/events.ts'
import type { RowContext } from '../../../rows/nameCache.ts'
import { smallFinal } from '../../../stores/clickhouse/select.ts'
import type { EventListPlan } from './plan.ts'
import { eventConditions, eventPageSettings, eventPageSql, eventSql } from './sql.ts'

/** Reads one page of events. Copies of an event that are not merged yet are listed once. */
export async function listEvents(context: RowContext, plan: EventListPlan): Promise<PageRows<EventRow>> {
  const atOf = (row: StoredEventRow) => (plan.updatedSinceMs === undefined ? row.occurredAt : row.storedAt)
  const query = { conditions: eventConditions(plan), atOf }
  const settings = eventPageSettings(plan)
  const source = byKey<EventKey, StoredEventRow>({
    keys: (after, keysMax) => readRows(context, eventPageSql(plan, after, keysMax), 'events.page', settings),
    rows: (keys) => readEventsByKey(context, query, keys, 'events.rows'),
  })
  const page = await readPage([source], plan.afterEvent, plan, (row) => eventPageKey({ ...row, atMs: atOf(row) }))
  return { ...page, data: await toEventRows(context, plan.accountId, page.data) }
}

/**
 * Reads the newest generation of a server event.
 * @throws Problem `not_found`
 */
export async function findEvent(context: RowContext, accountId: string, id: string): Promise<EventRow> {
  const rows = await readRows<StoredEventRow>(context, eventSql(accountId, id), 'events.item', smallFinal)
  const [event] = await toEventRows(context, accountId, rows)
  if (!event) throw notFound()
  return event
}
