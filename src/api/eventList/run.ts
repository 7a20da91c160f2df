import type { EventRow } from '../../../schema/event.ts'
import type { RouteContext } from '../../http/context.ts'
import { notFound } from '../../problem.ts'
import { readEventWatermark } from '../../query/eventWatermark.ts'
import { type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { type StoredEventRow, toEventRows } from '../../rows/events.ts'
import type { ClickHouse } from '../../stores/clickhouse/connection.ts'
import { selectRows, smallFinal } from '../../stores/clickhouse/select.ts'
import { type EventKey, pageKeyOf } from './key.ts'
import type { EventListPlan } from './plan.ts'
import { eventKeysSettings, eventKeysSql, eventRowsSql, eventSql } from './sql.ts'

/** A page; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type EventRows = PageRows<EventRow> & { asOf: string | null }

/** Candidates that are read in addition to the missing rows, since some may be copies. */
const spareKeys = 8

/**
 * Reads one page of events. Copies of an event that are not merged yet are listed once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listEvents(
  { stores, nameCache }: RouteContext,
  plan: EventListPlan,
  signal: AbortSignal,
): Promise<EventRows> {
  const isByStoredAt = plan.order.updatedSinceMs !== undefined
  const asOfMs = isByStoredAt ? await readEventWatermark(stores, plan.accountId, signal) : undefined
  const atOf = (row: StoredEventRow) => (isByStoredAt ? row.storedAt : row.occurredAt)
  const rows: StoredEventRow[] = []
  let from = plan.after
  let isRead = false
  while (!isRead && rows.length <= plan.limit) {
    const keysMax = plan.limit + 1 - rows.length + spareKeys
    const keys = await selectRows<EventKey>(stores.clickhouse, eventKeysSql(plan, from, asOfMs, keysMax), {
      label: 'events.page',
      signal,
      settings: eventKeysSettings(plan),
    })
    const kept = await readKept(stores.clickhouse, plan, asOfMs, keys, signal)
    for (const key of keys) {
      const row = kept.get(nameOf(key))
      if (!row || atOf(row) !== key.atMs) continue
      rows.push(row)
      kept.delete(nameOf(key))
    }
    from = keys.at(-1)
    isRead = keys.length < keysMax
  }
  const page = toPage(rows, plan.limit, (row) => pageKeyOf({ ...row, atMs: atOf(row) }), plan.fingerprint)
  const data = await toEventRows(nameCache, plan.accountId, page.data)
  return { ...page, data, asOf: asOfMs === undefined ? null : toInstantText(asOfMs) }
}

/** Reads the rows that merges keep of these keys, and that match the filters, by key. */
async function readKept(
  clickhouse: ClickHouse,
  plan: EventListPlan,
  asOfMs: number | undefined,
  keys: readonly EventKey[],
  signal: AbortSignal,
): Promise<Map<string, StoredEventRow>> {
  if (keys.length === 0) return new Map()
  const rows = await selectRows<StoredEventRow>(clickhouse, eventRowsSql(plan, asOfMs, keys), {
    label: 'events.rows',
    signal,
    settings: smallFinal,
  })
  return new Map(rows.map((row) => [nameOf(row), row]))
}

/** Ids contain no spaces, so names are unique. */
function nameOf({ origin, id, generation }: Pick<EventKey, 'origin' | 'id' | 'generation'>): string {
  return `${origin} ${id} ${generation}`
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
