import { clickIndexHints } from '../../query/clickIdsIndex.ts'
import { inRange } from '../../query/conditions.ts'
import { columnFilterConditions, type Filter, filterConditions } from '../../query/filters.ts'
import { after, afterOldest, cursorOf, type PageKey } from '../../query/pagination.ts'
import type { Range } from '../../query/timeRange.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { exportedClickFields, type RowField } from '../../rows/exportFields.ts'
import { ch, count, type Fragment, instant, join, nothing, text } from '../../stores/clickhouse/sql.ts'
import type { ClickPlan } from './plan.ts'

/**
 * The next clicks, newest first, in the order of the primary key, so that every page costs the same. Repeated rows are adjacent;
 * the caller drops them.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, also of filtered ones (it puts its own filter there for
 * ORDER BY … LIMIT).
 * @param from the last key that was read; undefined at the start
 * @param slice the part of the range that is read
 * @returns the statement with a select list
 */
export function newestSql(
  plan: ClickPlan,
  from: PageKey | undefined,
  slice: Partial<Range>,
  limit: number,
): (columns: Fragment) => Fragment {
  const keyConditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`clicked_at`, slice),
    after(from, ch`clicked_at`, ch`id`),
    ...convertedCondition(plan, () => convertedSql(plan, from, slice)),
  ]
  const filters = clickConditions(plan)
  return (columns) => ch`
SELECT ${columns}
FROM clicks${
    filters.length === 0
      ? nothing
      : ch`
PREWHERE ${join(filters, '\n  AND ')}`
  }
WHERE ${join(keyConditions, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/** The clicks of a time slice with a conversion that is not a test. */
function convertedSql(plan: ClickPlan, from: PageKey | undefined, slice: Partial<Range>): Fragment {
  const conditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(
      ch`clicked_at`,
      from ? { ...slice, untilMs: Math.min(from.atMs + 1, slice.untilMs ?? Infinity) } : slice,
    ),
    ch`NOT is_test`,
    ...convertedClickConditions(plan),
  ]
  return ch`SELECT clicked_at, click_id FROM converted_clicks FINAL WHERE ${join(conditions, '\n  AND ')}`
}

/**
 * The keys of the next clicks in ascending order of `clicked_at`, or of `stored_at` with `updated_since` or `updated_after`.
 * @param asOfMs watermark, the exclusive end of an order by `stored_at`
 * @returns rows `atMs`, `id`: the key in this order; `clickedMs`, `id`: the sort key of the table
 */
export function clickListSql(plan: ClickPlan, asOfMs: number | undefined, limit: number): Fragment {
  const at = orderColumn(plan)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, id, toUnixTimestamp64Milli(clicked_at) AS clickedMs
FROM clicks
WHERE ${join(orderConditions(plan, asOfMs), '\n  AND ')}
ORDER BY ${at}, id
LIMIT 1 BY ${at}, id
LIMIT ${count(limit)}`
}

function orderColumn({ order }: ClickPlan): Fragment {
  return order.updatedSinceMs === undefined ? ch`clicked_at` : ch`stored_at`
}

/** The conditions of a list in its order, after its cursor. */
function orderConditions(plan: ClickPlan, asOfMs: number | undefined): Fragment[] {
  const { order, range } = plan
  const at = orderColumn(plan)
  return [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`clicked_at`, range),
    ...(order.updatedSinceMs === undefined || asOfMs === undefined
      ? []
      : [ch`stored_at >= ${instant(order.updatedSinceMs)}`, ch`stored_at < ${instant(asOfMs)}`]),
    order.isOldestFirst ? afterOldest(plan.after, at, ch`id`) : after(plan.after, at, ch`id`),
    ...clickConditions(plan),
    ...convertedCondition(plan, () => convertedSql(plan, undefined, range)),
  ]
}

/** The condition of the parameter `converted`, if it is present. @param converted the keys of clicks with conversions */
function convertedCondition({ converted: isConverted }: ClickPlan, converted: () => Fragment): Fragment[] {
  if (isConverted === undefined) return []
  return [ch`(clicked_at, id) ${isConverted ? ch`IN` : ch`NOT IN`} (${converted()})`]
}

/** Whether the list usually has most of the clicks of its range. */
export function isDense({ filters, columnFilters, isBot, isTest, converted: isConverted }: ClickPlan): boolean {
  return filters.length === 0 && columnFilters.length === 0 && !isBot && !isTest && !isConverted
}

/** Conditions on `converted_clicks` that the next clicks of a slice fulfil, and maybe other clicks. */
export function convertedPageConditions(plan: ClickPlan, from: PageKey | undefined, slice: Partial<Range>): Fragment[] {
  return [
    ...inRange(ch`clicked_at`, slice),
    after(from, ch`clicked_at`, ch`click_id`),
    ...convertedClickConditions(plan),
  ]
}

/** The conditions of all filters, on the rows of `clicks`. */
function clickConditions({ filters, columnFilters, isBot, isTest }: ClickPlan): Fragment[] {
  return [
    ...(isBot === undefined ? [] : [isBot ? ch`is_bot` : ch`NOT is_bot`]),
    ...(isTest === undefined ? [] : [isTest ? ch`is_test` : ch`NOT is_test`]),
    ...filterConditions(filters, 'clicks'),
    ...columnFilterConditions(columnFilters),
    ...clickIndexHints([...filters, ...columnFilters]),
  ]
}

/** The conditions of the filters that `converted_clicks` has columns for. */
function convertedClickConditions({ filters }: ClickPlan): Fragment[] {
  return filterConditions(filters.filter(isOfConvertedClicks), 'clicks')
}

function isOfConvertedClicks({ attribute }: Filter): boolean {
  return attribute === 'campaign' || attribute === 'offer'
}

/** Whether `converted_clicks` has columns for all filters. */
export function hasOnlyConvertedFilters({ filters, columnFilters, isBot, isTest }: ClickPlan): boolean {
  return filters.every(isOfConvertedClicks) && columnFilters.length === 0 && isBot === undefined && isTest === undefined
}

/**
 * All clicks of a list in an export format, in the order of the primary key, so that ClickHouse does not sort; with
 * `updated_since` or `updated_after` it sorts all rows by `stored_at`. Conversion counts come from one list of the converted
 * clicks, since a join would have to sort.
 * @param entities ids and names of campaigns and other entities
 */
export function clickExportSql(
  plan: ClickPlan,
  entities: readonly RowField[],
  { asOfMs, ...options }: ExportOptions,
): Fragment {
  const { accountId, range, order } = plan
  const counted = [ch`account_id = ${text(accountId)}`, ...inRange(ch`clicked_at`, range), ch`NOT is_test`]
  const conversions = ch`transform(id, counts.1, counts.2, toUInt64(0))`
  const at = orderColumn(plan)
  const fields = [
    ...exportedClickFields(plan.baseCurrency, entities),
    { name: 'converted', value: ch`toBool(${conversions} > 0)` },
    { name: 'conversionCount', value: ch`toInt64(${conversions})` },
    { name: 'storedAt', value: ch`stored_at` },
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.fingerprint) },
  ]
  return ch`
WITH (
  SELECT (groupArray(click_id), groupArray(conversions))
  FROM (
    SELECT click_id, count() AS conversions
    FROM converted_clicks FINAL
    WHERE ${join(counted, '\n  AND ')}
    GROUP BY click_id
  )
) AS counts
SELECT
  ${selectList(fields, options)}
FROM clicks
WHERE ${join(orderConditions(plan, asOfMs), '\n  AND ')}
ORDER BY ${order.isOldestFirst ? ch`${at}, id` : ch`${at} DESC, id DESC`}
LIMIT 1 BY ${at}, id
${formatClause(options.format)}`
}
