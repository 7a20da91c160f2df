import type { ClickHouseSettings } from '@clickhouse/client'
import type { EventRow } from '../../../../schema/event.ts'
import type { EventListQuery } from '../../../../schema/eventList.ts'
import type { FilterAttribute } from '../../../../schema/filters.ts'
import { notFound } from '../../../problem.ts'
import { type EventKey, eventPageKey, isAfterEvent } from '../../../query/eventKey.ts'
import { eventsByTime } from '../../../query/eventRows.ts'
import { filterCondition } from '../../../query/filters.ts'
import { byKey, type PageRows, readNext, toPage } from '../../../query/list.ts'
import { type ListPlan, listSql } from '../../../query/listPlan.ts'
import { readRows } from '../../../query/readContext.ts'
import { eventColumns, eventSerializer, readEventsByKey, type StoredEventRow } from '../../../rows/events.ts'
import type { RowContext } from '../../../rows/nameCache.ts'
import { selectIn } from '../../../rows/selectedFields.ts'
import { smallFinal } from '../../../stores/clickhouse/select.ts'
import { ch, count, type Fragment, identifier, join, text, texts } from '../../../stores/clickhouse/sql.ts'

const filterColumns = ['origin', 'campaign_id', 'click_id', 'visitor_id'] as const

export interface EventListPlan extends ListPlan {
  /** Undefined: all names. */
  eventNames: string[] | undefined
  /** The other filters, each by the column of its name. */
  columns: Pick<EventListQuery, (typeof filterColumns)[number]>
  /** Key of the last row of the previous page; undefined for the first page. */
  afterEvent: EventKey | undefined
}

/** Reads one page of events. Copies of an event that are not merged yet are listed once. */
export async function listEvents(context: RowContext, plan: EventListPlan): Promise<PageRows> {
  const atOf = (row: StoredEventRow) => (plan.updatedSinceMs === undefined ? row.occurredAt : row.storedAt)
  const query = { conditions: eventConditions(plan), atOf }
  const settings = eventPageSettings(plan)
  const source = byKey<EventKey, StoredEventRow>({
    keys: (after, keysMax) => readRows(context, eventPageSql(plan, after, keysMax), 'events.page', settings),
    rows: (keys) => readEventsByKey(context, query, keys, 'events.rows'),
  })
  const next = await readNext([source], plan.afterEvent, plan.limit + 1)
  const toRow = await eventSerializer(context, plan.accountId, next.rows)
  return toPage(
    next,
    plan,
    (row) => eventPageKey({ ...row, atMs: atOf(row) }),
    (row) => JSON.stringify(selectIn(toRow(row), plan.selected)),
  )
}

/**
 * The keys of the next events in the order of the list. A copy that a merge will remove may be among them; it may match
 * although the kept copy does not. The caller reads the rows that remain with `readEventsByKey`.
 * @param lastKey the last key that was read; undefined at the start
 * @returns rows `atMs`, `origin`, `id`, `generation`
 */
export function eventPageSql(plan: EventListPlan, lastKey: EventKey | undefined, limit: number): Fragment {
  const { at, conditions, order } = orderedEvents(plan, lastKey)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, origin, id, generation
FROM pixel_events
WHERE ${join(conditions, '\n  AND ')}
${order}
LIMIT ${count(limit)}`
}

/** @returns the settings of `eventPageSql`: the index of visitors or clicks is smaller than the projection */
export function eventPageSettings({ columns: { visitor_id, click_id } }: EventListPlan): ClickHouseSettings {
  return visitor_id === undefined && click_id === undefined ? eventsByTime : {}
}

/** The order of the list in SQL, and all conditions of its events. */
export function orderedEvents(plan: EventListPlan, lastKey: EventKey | undefined) {
  const { at, direction } = listSql(plan, ch`occurred_at`)
  return {
    at,
    conditions: [...eventConditions(plan), isAfterEvent(lastKey, at, plan.isOldestFirst)],
    order: ch`ORDER BY ${at} ${direction}, origin ${direction}, id ${direction}, generation ${direction}`,
  }
}

/** All conditions of a list on an event's row. */
function eventConditions(plan: EventListPlan): Fragment[] {
  const { eventNames, columns, filters } = plan
  const columnOf = (attribute: FilterAttribute) => identifier(attribute === 'campaign' ? 'campaign_id' : attribute)
  return [
    ...listSql(plan, ch`occurred_at`).conditions,
    ...(eventNames === undefined ? [] : [ch`event_name IN ${texts(eventNames)}`]),
    ...filterColumns.flatMap((name) => {
      const value = columns[name]
      return value === undefined ? [] : [ch`${identifier(name)} = ${text(value)}`]
    }),
    ...filters.map((filter) => filterCondition(filter, columnOf)),
  ]
}

/**
 * Reads the newest generation of a server event.
 * @throws Problem `not_found`
 */
export async function findEvent(context: RowContext, accountId: string, id: string): Promise<EventRow> {
  const query = ch`
SELECT ${eventColumns}
FROM pixel_events FINAL
PREWHERE id_hash = sipHash64(${text(id)})
WHERE account_id = ${text(accountId)}
  AND origin = 'server'
  AND id = ${text(id)}
ORDER BY generation DESC
LIMIT 1`
  const rows = await readRows<StoredEventRow>(context, query, 'events.item', smallFinal)
  const [event] = rows
  if (!event) throw notFound()
  return (await eventSerializer(context, accountId, rows))(event)
}
