import type { EventRow } from '../../../schema/event.ts'
import type { RouteContext } from '../../http/context.ts'
import { notFound } from '../../problem.ts'
import { type EventKey, eventPageKey } from '../../query/eventKey.ts'
import { type PageRows, toPage } from '../../query/pagination.ts'
import { byKey, readPage } from '../../query/readPage.ts'
import { readEventsByKey, type StoredEventRow, toEventRows } from '../../rows/events.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import type { EventListPlan } from './plan.ts'
import { eventConditions, eventPageSettings, eventPageSql, eventSql } from './sql.ts'

/** Reads one page of events. Copies of an event that are not merged yet are listed once. */
export async function listEvents(
  { stores, nameCache }: RouteContext,
  plan: EventListPlan,
  signal: AbortSignal,
): Promise<PageRows<EventRow>> {
  const { accountId, limit } = plan
  const atOf = (row: StoredEventRow) => (plan.updatedSinceMs === undefined ? row.occurredAt : row.storedAt)
  const query = { conditions: eventConditions(plan), atOf }
  const options = { label: 'events.page', signal, settings: eventPageSettings(plan) }
  const source = byKey<EventKey, StoredEventRow>({
    keys: (after, keysMax) => selectRows(stores.clickhouse, eventPageSql(plan, after, keysMax), options),
    rows: (keys) => readEventsByKey(stores.clickhouse, query, keys, { label: 'events.rows', signal }),
  })
  const rows = await readPage([source], plan.afterEvent, limit + 1)
  const page = toPage(rows, limit, (row) => eventPageKey({ ...row, atMs: atOf(row) }), plan.boundTo)
  return { ...page, data: await toEventRows(nameCache, accountId, page.data) }
}

/**
 * Reads the newest generation of a server event.
 * @throws Problem `not_found`
 */
export async function findEvent(
  { stores, nameCache }: RouteContext,
  accountId: string,
  id: string,
  signal: AbortSignal,
): Promise<EventRow> {
  const rows = await selectRows<StoredEventRow>(stores.clickhouse, eventSql(accountId, id), {
    label: 'events.item',
    signal,
    settings: smallFinal,
  })
  const [event] = await toEventRows(nameCache, accountId, rows)
  if (!event) throw notFound()
  return event
}
