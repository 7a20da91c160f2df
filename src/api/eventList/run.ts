import type { EventRow } from '../../../schema/event.ts'
import type { RouteContext } from '../../http/context.ts'
import { notFound } from '../../problem.ts'
import { type EventKey, eventPageKey } from '../../query/eventKey.ts'
import { readEventWatermark } from '../../query/eventWatermark.ts'
import { type PageRows, toPage } from '../../query/pagination.ts'
import { readRowsByKey } from '../../query/rowsByKey.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { type StoredEventRow, toEventRows } from '../../rows/events.ts'
import { readEventsByKey } from '../../rows/eventsByKey.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import type { EventListPlan } from './plan.ts'
import { eventKeysSettings, eventKeysSql, eventSql, filterConditions } from './sql.ts'

/** A page; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type EventRows = PageRows<EventRow> & { asOf: string | null }

/**
 * Reads one page of events. Copies of an event that are not merged yet are listed once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listEvents(
  { stores, nameCache }: RouteContext,
  plan: EventListPlan,
  signal: AbortSignal,
): Promise<EventRows> {
  const { accountId, limit } = plan
  const isByStoredAt = plan.order.updatedSinceMs !== undefined
  const asOfMs = isByStoredAt ? await readEventWatermark(stores, accountId, signal) : undefined
  const atOf = (row: StoredEventRow) => (isByStoredAt ? row.storedAt : row.occurredAt)
  const query = { accountId, conditions: filterConditions(plan, asOfMs), atOf }
  const rows = await readRowsByKey(plan.after, limit + 1, {
    keys: (from, keysMax) =>
      selectRows<EventKey>(stores.clickhouse, eventKeysSql(plan, from, asOfMs, keysMax), {
        label: 'events.page',
        signal,
        settings: eventKeysSettings(plan),
      }),
    rows: (keys) => readEventsByKey(stores.clickhouse, query, keys, { label: 'events.rows', signal }),
  })
  const page = toPage(rows, limit, (row) => eventPageKey({ ...row, atMs: atOf(row) }), plan.fingerprint)
  const data = await toEventRows(nameCache, accountId, page.data)
  return { ...page, data, asOf: asOfMs === undefined ? null : toInstantText(asOfMs) }
}

/**
 * Reads the newest generation of a server event.
 * @throws Problem `not_found`, `unavailable`, `query_timeout`
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
