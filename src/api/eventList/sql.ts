import type { ClickHouseSettings } from '@clickhouse/client'
import { inRange } from '../../query/conditions.ts'
import type { EventKey } from '../../query/eventKey.ts'
import { cursorOf } from '../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { eventColumns, eventExportFields } from '../../rows/events.ts'
import type { RowField } from '../../rows/exportFields.ts'
import { ch, count, type Fragment, instant, join, text, texts } from '../../stores/clickhouse/sql.ts'
import type { EventListPlan } from './plan.ts'

/**
 * The keys of the next events in the order of the list. A row that a merge will remove may be among them, and matches only
 * by values that it does not keep: the caller reads the remaining rows with `readEventsByKey`.
 * @param from the last key that was read; undefined at the start
 * @param asOfMs watermark, the exclusive end of an order by `stored_at`
 * @returns rows `atMs`, `origin`, `id`, `generation`
 */
export function eventKeysSql(
  plan: EventListPlan,
  from: EventKey | undefined,
  asOfMs: number | undefined,
  limit: number,
): Fragment {
  const at = orderColumn(plan)
  const direction = directionOf(plan)
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...filterConditions(plan, asOfMs),
    ...afterKey(plan, from),
  ]
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, origin, id, generation
FROM pixel_events
WHERE ${join(conditions, '\n  AND ')}
ORDER BY ${at} ${direction}, origin ${direction}, id ${direction}, generation ${direction}
LIMIT ${count(limit)}`
}

/** @returns the settings of `eventKeysSql`: the index of visitors or clicks is smaller than the projection */
export function eventKeysSettings({ visitorId, clickId }: EventListPlan): ClickHouseSettings {
  return visitorId === undefined && clickId === undefined ? { preferred_optimize_projection_name: 'by_time' } : {}
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
 * All events of a list in an export format.
 * @param campaigns id and name of the campaign
 */
export function eventExportSql(
  plan: EventListPlan,
  campaigns: readonly RowField[],
  { asOfMs, ...options }: ExportOptions,
): Fragment {
  const at = orderColumn(plan)
  const direction = directionOf(plan)
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...filterConditions(plan, asOfMs),
    ...afterKey(plan, plan.after),
  ]
  const key = ch`concat(origin, ':', toString(generation), ':', id)`
  const fields = [...eventExportFields(campaigns), { name: 'cursor', value: cursorOf(at, key, plan.fingerprint) }]
  return ch`
SELECT
  ${selectList(fields, options)}
FROM pixel_events FINAL
WHERE ${join(conditions, '\n  AND ')}
ORDER BY ${at} ${direction}, origin ${direction}, id ${direction}, generation ${direction}
${formatClause(options.format)}`
}

function orderColumn({ order }: EventListPlan): Fragment {
  return order.updatedSinceMs === undefined ? ch`occurred_at` : ch`stored_at`
}

function directionOf({ order }: EventListPlan): Fragment {
  return order.isOldestFirst ? ch`ASC` : ch`DESC`
}

/** The conditions of the filters and of the order, on an event's row. */
export function filterConditions(plan: EventListPlan, asOfMs: number | undefined): Fragment[] {
  const { range, eventNames, origin, campaignId, clickId, visitorId, order } = plan
  return [
    ...inRange(ch`occurred_at`, range),
    ...(order.updatedSinceMs === undefined || asOfMs === undefined
      ? []
      : [ch`stored_at >= ${instant(order.updatedSinceMs)}`, ch`stored_at < ${instant(asOfMs)}`]),
    ...(eventNames === undefined ? [] : [ch`event_name IN ${texts(eventNames)}`]),
    ...(origin === undefined ? [] : [ch`origin = ${text(origin)}`]),
    ...(campaignId === undefined ? [] : [ch`campaign_id = ${text(campaignId)}`]),
    ...(clickId === undefined ? [] : [ch`click_id = ${text(clickId)}`]),
    ...(visitorId === undefined ? [] : [ch`visitor_id = ${text(visitorId)}`]),
  ]
}

/** The first condition is implied by the second; the primary key of the projection prunes by it. */
function afterKey(plan: EventListPlan, key: EventKey | undefined): Fragment[] {
  if (!key) return []
  const at = orderColumn(plan)
  const tuple = ch`(${instant(key.atMs)}, ${text(key.origin)}, ${text(key.id)}, ${count(key.generation)})`
  return plan.order.isOldestFirst
    ? [ch`${at} >= ${instant(key.atMs)}`, ch`(${at}, origin, id, generation) > ${tuple}`]
    : [ch`${at} <= ${instant(key.atMs)}`, ch`(${at}, origin, id, generation) < ${tuple}`]
}
