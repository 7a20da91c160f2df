import type { ClickHouseSettings } from '@clickhouse/client'
import type { FilterAttribute } from '../../../../schema/filters.ts'
import { type EventKey, isAfterEvent } from '../../../query/eventKey.ts'
import { filterCondition } from '../../../query/filters.ts'
import { listSql } from '../../../query/listPlan.ts'
import { cursorOf } from '../../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../../rows/clickhouseOutputFormat.ts'
import { eventColumns, eventExportFields } from '../../../rows/events.ts'
import type { RowField } from '../../../rows/exportFields.ts'
import { ch, count, type Fragment, identifier, join, nothing, text, texts } from '../../../stores/clickhouse/sql.ts'
import { type EventListPlan, filterColumns } from './plan.ts'

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
  return visitor_id === undefined && click_id === undefined ? { preferred_optimize_projection_name: 'by_time' } : {}
}

/** The newest generation of a server event. */
export function eventSql(accountId: string, id: string): Fragment {
  return ch`
SELECT ${eventColumns}
FROM pixel_events FINAL
PREWHERE id_hash = sipHash64(${text(id)})
WHERE account_id = ${text(accountId)}
  AND origin = 'server'
  AND id = ${text(id)}
ORDER BY generation DESC
LIMIT 1`
}

/**
 * All events of a list in an export format. FINAL reads every column of all events of the account. With `updated_since`, ClickHouse first
 * makes a bitmap from the ids of the selected events. The bitmap takes at most 2 MB. FINAL then reads all rows of these events, and
 * few rows of other events: the bitmap has 24 bits of each id's hash.
 * @param campaigns id and name of the campaign
 */
export function eventExportSql(plan: EventListPlan, campaigns: readonly RowField[], options: ExportOptions): Fragment {
  const { at, conditions, order } = orderedEvents(plan, plan.afterEvent)
  const key = ch`concat(origin, ':', toString(generation), ':', id)`
  const fields = [...eventExportFields(campaigns), { name: 'cursor', value: cursorOf(at, key, plan.boundTo) }]
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const stored = ch`WITH (
  SELECT groupBitmapState(${idBits})
  FROM pixel_events
  WHERE ${join(listSql(plan, ch`occurred_at`).conditions, '\n  AND ')}
) AS stored
`
  return ch`
${isByStoredAt ? stored : nothing}SELECT
  ${selectList(fields, options)}
FROM pixel_events FINAL${isByStoredAt ? ch`\nPREWHERE bitmapContains(stored, ${idBits})` : nothing}
WHERE ${join(conditions, '\n  AND ')}
${order}
${formatClause(options.format)}`
}

/** Equal for all rows of an event. */
const idBits = ch`toUInt32(bitAnd(id_hash, 0xffffff))`

function orderedEvents(plan: EventListPlan, lastKey: EventKey | undefined) {
  const { at, direction } = listSql(plan, ch`occurred_at`)
  return {
    at,
    conditions: [...eventConditions(plan), isAfterEvent(lastKey, at, plan.isOldestFirst)],
    order: ch`ORDER BY ${at} ${direction}, origin ${direction}, id ${direction}, generation ${direction}`,
  }
}

/** All conditions of a list on an event's row. */
export function eventConditions(plan: EventListPlan): Fragment[] {
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
