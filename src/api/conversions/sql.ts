import { filterConditions } from '../../query/filters.ts'
import { keyConditions, type LatestQuery } from '../../query/latestVersions.ts'
import { listSql } from '../../query/listPlan.ts'
import { cursorOf, isAfter, type PageKey } from '../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { exportFields, type RowField } from '../../rows/exportFields.ts'
import { ch, count, type Fragment, join, nothing } from '../../stores/clickhouse/sql.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import type { ConversionPlan } from './plan.ts'

const time = ch`converted_at`

/** The conditions of a list: account and range hold for every version, the filters for the latest one. */
export function conversionQuery(plan: ConversionPlan): LatestQuery {
  const { accountId, range, isOldestFirst, filters, withTests } = plan
  const versionConditions = [...(withTests ? [] : [ch`NOT is_test`]), ...filterConditions(filters, 'conversions')]
  return { accountId, range, isOldestFirst, versionConditions }
}

/**
 * The next versions that match the filters, in the order of `stored_at`. An erasure gives several versions of an id one
 * `stored_at`: the first of these is the only one that can be current.
 * @param isLatestOnly whether superseded versions are left out, which collapses the versions of all conversions
 * @returns rows `atMs`, `id`: the key in this order; `convertedMs`, `id`: the sort key of the table
 */
export function storedVersionsSql(
  plan: ConversionPlan,
  lastKey: PageKey | undefined,
  limit: number,
  isLatestOnly: boolean,
): Fragment {
  const conditions = [
    ...listSql(plan, time).conditions,
    isAfter(lastKey, ch`stored_at`, ch`id`, true),
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

/**
 * All conversions of a list in an export format; the filters apply to the latest version of each. The latest versions are chosen
 * in the order of the table: FINAL would have to sort for newest first.
 * @param entities ids and names of campaigns and other entities
 */
export function conversionExportSql(
  plan: ConversionPlan,
  entities: readonly RowField[],
  options: ExportOptions,
): Fragment {
  const query = conversionQuery(plan)
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const { at, direction, conditions } = listSql(plan, time)
  const inOrder = join([...conditions, isAfter(plan.after, at, ch`id`, plan.isOldestFirst)], '\n  AND ')
  const hasVersion = ch`(converted_at, id) IN (SELECT converted_at, id FROM conversions WHERE ${inOrder})`
  const ofAll = isByStoredAt ? [...keyConditions(query, undefined), hasVersion] : keyConditions(query, plan.after)
  const ofLatest = [ch`NOT is_deleted`, ...query.versionConditions, ...(isByStoredAt ? [inOrder] : [])]
  const fields = [
    ...exportFields(conversionFields, plan.currency, entities),
    { name: 'storedAt', value: ch`stored_at` },
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.boundTo) },
  ]
  return ch`
SELECT
  ${selectList(fields, options)}
FROM (
  SELECT *
  FROM conversions
  WHERE ${join(ofAll, '\n  AND ')}
  ORDER BY converted_at ${direction}, id ${direction}, version DESC
  LIMIT 1 BY converted_at, id
)
WHERE ${join(ofLatest, '\n  AND ')}
ORDER BY ${at} ${direction}, id ${direction}
${formatClause(options.format)}`
}
