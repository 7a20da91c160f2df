import { inRange } from '../../query/conditions.ts'
import { columnFilterConditions, filterConditions } from '../../query/filters.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import { after, afterOldest, cursorOf, type PageKey } from '../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { exportedConversionFields, type RowField } from '../../rows/exportFields.ts'
import { ch, count, type Fragment, instant, join, nothing, text, texts } from '../../stores/clickhouse/sql.ts'
import type { ConversionPlan } from './plan.ts'

/** The conditions of a list: account and range hold for every version, the filters for the latest one. */
export function conversionQuery(plan: ConversionPlan): LatestQuery {
  const { range, filters, columnFilters, statuses, source, withTests } = plan
  return {
    table: ch`conversions`,
    at: ch`converted_at`,
    id: ch`id`,
    keyConditions: [ch`account_id = ${text(plan.accountId)}`, ...inRange(ch`converted_at`, range)],
    versionConditions: [
      ...(withTests ? [] : [ch`NOT is_test`]),
      ...(statuses === undefined ? [] : [ch`status IN ${texts(statuses)}`]),
      ...(source === undefined ? [] : [ch`source = ${text(source)}`]),
      ...filterConditions(filters, 'conversions'),
      ...columnFilterConditions(columnFilters),
    ],
  }
}

/** Whether the list usually has most of the conversions of its range. */
export function isDense({ filters, columnFilters, statuses, source }: ConversionPlan): boolean {
  return filters.length === 0 && columnFilters.length === 0 && statuses === undefined && source === undefined
}

/**
 * The next versions that match the filters, in the order of `stored_at`. An erasure gives several versions of an id one
 * `stored_at`: the first of these is the only one that can be current.
 * @param isLatestOnly whether superseded versions are left out, which collapses the versions of all conversions
 * @returns rows `atMs`, `id`: the key in this order; `convertedMs`, `id`: the sort key of the table
 */
export function storedVersionsSql(
  plan: ConversionPlan,
  from: PageKey | undefined,
  asOfMs: number,
  limit: number,
  isLatestOnly: boolean,
): Fragment {
  const conditions = [
    ...storedSince(plan, asOfMs),
    afterOldest(from, ch`stored_at`, ch`id`),
    ch`NOT is_deleted`,
    ...conversionQuery(plan).versionConditions,
  ]
  return ch`
SELECT toUnixTimestamp64Milli(stored_at) AS atMs, id, toUnixTimestamp64Milli(converted_at) AS convertedMs
FROM conversions${isLatestOnly ? ch` FINAL` : nothing}
WHERE ${join(conditions, '\n  AND ')}
ORDER BY stored_at, id, version DESC
LIMIT ${count(limit)}`
}

function storedSince(plan: ConversionPlan, asOfMs: number): Fragment[] {
  return [
    ...conversionQuery(plan).keyConditions,
    ch`stored_at >= ${instant(plan.order.updatedSinceMs ?? 0)}`,
    ch`stored_at < ${instant(asOfMs)}`,
  ]
}

/** The keys of the next conversions, oldest first. */
export function oldestKeysSql(plan: ConversionPlan, limit: number): Fragment {
  const { keyConditions, versionConditions } = conversionQuery(plan)
  const conditions = [...keyConditions, afterOldest(plan.after, ch`converted_at`, ch`id`)]
  return ch`
SELECT toUnixTimestamp64Milli(converted_at) AS atMs, id
FROM (${latestSql(conditions, ch`ASC`)})
WHERE ${join([ch`NOT is_deleted`, ...versionConditions], '\n  AND ')}
ORDER BY converted_at, id
LIMIT ${count(limit)}`
}

/**
 * The latest versions of rows, including deleted ones, in the order of the table: FINAL would have to sort for newest
 * first.
 */
function latestSql(conditions: readonly Fragment[], direction: Fragment): Fragment {
  return ch`
  SELECT *
  FROM conversions
  WHERE ${join(conditions, '\n  AND ')}
  ORDER BY converted_at ${direction}, id ${direction}, version DESC
  LIMIT 1 BY converted_at, id
`
}

/**
 * All conversions of a list in an export format; the filters apply to the latest version of each.
 * @param entities ids and names of campaigns and other entities
 */
export function conversionExportSql(
  plan: ConversionPlan,
  entities: readonly RowField[],
  { asOfMs, ...options }: ExportOptions,
): Fragment {
  const { keyConditions, versionConditions } = conversionQuery(plan)
  const { isOldestFirst, updatedSinceMs } = plan.order
  const isByStoredAt = updatedSinceMs !== undefined
  const at = isByStoredAt ? ch`stored_at` : ch`converted_at`
  const isAfter = isOldestFirst ? afterOldest(plan.after, at, ch`id`) : after(plan.after, at, ch`id`)
  const direction = isOldestFirst ? ch`ASC` : ch`DESC`
  const stored = join(storedSince(plan, asOfMs), '\n  AND ')
  const hasStoredVersion = ch`(converted_at, id) IN (SELECT converted_at, id FROM conversions WHERE ${stored})`
  const fields = [
    ...exportedConversionFields(plan.currency, entities),
    { name: 'storedAt', value: ch`stored_at` },
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.fingerprint) },
  ]
  return ch`
SELECT
  ${selectList(fields, options)}
FROM (${latestSql([...keyConditions, isByStoredAt ? hasStoredVersion : isAfter], direction)})
WHERE ${join([ch`NOT is_deleted`, ...versionConditions, ...(isByStoredAt ? [stored, isAfter] : [])], '\n  AND ')}
ORDER BY ${at} ${direction}, id ${direction}
${formatClause(options.format)}`
}
