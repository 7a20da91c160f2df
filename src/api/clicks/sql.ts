import { inRange, prewhere } from '../../query/conditions.ts'
import { attributesOf, filterConditions } from '../../query/filters.ts'
import type { Filter } from '../../query/filterTree.ts'
import { idsIndexHints } from '../../query/idsIndex.ts'
import { listSql } from '../../query/listPlan.ts'
import { cursorOf, isAfter, type PageKey } from '../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { clickTexts } from '../../rows/clicks.ts'
import { dimensionFields, exportFields, type RowField } from '../../rows/exportFields.ts'
import { ch, count, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import type { ClickPlan } from './plan.ts'

/**
 * The next clicks, newest first, in the order of the primary key, so that every page costs the same. Repeated rows are adjacent;
 * the caller drops them.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, also of filtered ones (it puts its own filter there for
 * ORDER BY … LIMIT).
 * @param lastKey the last key that was read; undefined at the start
 * @returns rows `ClickText`
 */
export function newestSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  const keyConditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`clicked_at`, plan.range),
    isAfter(lastKey, ch`clicked_at`, ch`id`),
    ...convertedCondition(plan, lastKey),
  ]
  return ch`
SELECT ${clickTexts}
FROM clicks${prewhere(clickConditions(plan))}
WHERE ${join(keyConditions, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/**
 * The next versions of conversions, in the order of the clicks of the list.
 * @param limit of versions
 * @returns rows `ConvertedVersion`
 */
export function convertedVersionsSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, conversion_id AS conversionId, version,
  is_deleted = 1 AS isDeleted, is_test AS isTest
FROM converted_clicks
WHERE ${join(convertedConditions(plan, lastKey), '\n  AND ')}
ORDER BY clicked_at DESC, click_id DESC
LIMIT ${count(limit)}`
}

export type ConvertedVersion = PageKey & { conversionId: string; version: number; isDeleted: boolean; isTest: boolean }

/**
 * The keys of the next rows of clicks in ascending order of `clicked_at`, or of `stored_at` with `updated_since` or `updated_after`.
 * Copies of a row that are not merged yet follow each other. `LIMIT BY` would remove the copies, but each page would read a block of
 * every part.
 * @param limit of rows, copies included
 * @returns rows `atMs`, `id`: the key in this order; `clickedMs`, `id`: the sort key of the table
 */
export function oldestFirstSql(plan: ClickPlan, limit: number): Fragment {
  const { at, conditions } = orderedSql(plan)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, id, toUnixTimestamp64Milli(clicked_at) AS clickedMs
FROM clicks
WHERE ${join(conditions, '\n  AND ')}
ORDER BY ${at}, id
LIMIT ${count(limit)}`
}

function orderedSql(plan: ClickPlan) {
  const list = listSql(plan, ch`clicked_at`)
  const conditions = [
    ...list.conditions,
    isAfter(plan.after, list.at, ch`id`, plan.isOldestFirst),
    ...clickConditions(plan),
    ...convertedCondition(plan, undefined),
  ]
  return { ...list, conditions }
}

/** The condition of the parameter `converted`, if it is present: on the clicks of the range after a key. */
function convertedCondition(plan: ClickPlan, lastKey: PageKey | undefined): Fragment[] {
  if (plan.converted === undefined) return []
  const conditions = [...convertedConditions(plan, lastKey), ch`NOT is_test`]
  const converted = ch`SELECT clicked_at, click_id FROM converted_clicks FINAL WHERE ${join(conditions, '\n  AND ')}`
  return [ch`(clicked_at, id) ${plan.converted ? ch`IN` : ch`NOT IN`} (${converted})`]
}

/** Whether the list usually has most of the clicks of its range. */
export function hasMostClicks({ filters, isBot, isTest, converted: isConverted }: ClickPlan): boolean {
  return filters.length === 0 && !isBot && !isTest && !isConverted
}

/** Conditions on `converted_clicks` that the next clicks fulfil, and maybe other clicks: it lacks most columns. */
function convertedConditions({ accountId, filters, range }: ClickPlan, lastKey: PageKey | undefined): Fragment[] {
  return [
    ch`account_id = ${text(accountId)}`,
    ...inRange(ch`clicked_at`, range),
    isAfter(lastKey, ch`clicked_at`, ch`click_id`),
    ...filterConditions(filters.filter(isOfConvertedClicks), 'clicks'),
  ]
}

function clickConditions({ filters, isBot, isTest }: ClickPlan): Fragment[] {
  return [
    ...(isBot === undefined ? [] : [isBot ? ch`is_bot` : ch`NOT is_bot`]),
    ...(isTest === undefined ? [] : [isTest ? ch`is_test` : ch`NOT is_test`]),
    ...filterConditions(filters, 'clicks'),
    ...idsIndexHints(filters),
  ]
}

const isOfConvertedClicks = (filter: Filter): boolean =>
  attributesOf([filter]).every((attribute) => attribute === 'campaign' || attribute === 'offer')

/** Whether `converted_clicks` has columns for all filters. */
export function hasOnlyConvertedFilters({ filters, isBot, isTest }: ClickPlan): boolean {
  return filters.every(isOfConvertedClicks) && isBot === undefined && isTest === undefined
}

/**
 * All clicks of a list in an export format, in the order of the primary key, so that ClickHouse does not sort; with
 * `updated_since` or `updated_after` it sorts all rows by `stored_at`. Conversion counts come from one list of the converted
 * clicks, since a join would have to sort.
 * @param entities ids and names of campaigns and other entities
 */
export function clickExportSql(plan: ClickPlan, entities: readonly RowField[], options: ExportOptions): Fragment {
  const { accountId, range } = plan
  const counted = [ch`account_id = ${text(accountId)}`, ...inRange(ch`clicked_at`, range), ch`NOT is_test`]
  const conversions = ch`transform(id, counts.1, counts.2, toUInt64(0))`
  const { at, direction, conditions } = orderedSql(plan)
  const fields = [
    ...exportFields(clickFields, plan.currency, entities),
    { name: 'converted', value: ch`toBool(${conversions} > 0)` },
    { name: 'conversionCount', value: ch`toInt64(${conversions})` },
    { name: 'storedAt', value: ch`stored_at` },
    ...dimensionFields('clicks', options.selected),
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.boundTo) },
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
WHERE ${join(conditions, '\n  AND ')}
ORDER BY ${at} ${direction}, id ${direction}
LIMIT 1 BY ${at}, id
${formatClause(options.format)}`
}
