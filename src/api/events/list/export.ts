import { listSql } from '../../../query/listPlan.ts'
import { cursorOf } from '../../../query/pagination.ts'
import { type ExportOptions, formatClauses, selectList } from '../../../rows/clickhouseOutputFormat.ts'
import { eventExportFields } from '../../../rows/events.ts'
import type { RowField } from '../../../rows/exportFields.ts'
import { ch, type Fragment, join, nothing } from '../../../stores/clickhouse/sql.ts'
import { type EventListPlan, orderedEvents } from './page.ts'

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
${formatClauses[options.format]}`
}

/** Equal for all rows of an event. */
const idBits = ch`toUInt32(bitAnd(id_hash, 0xffffff))`
