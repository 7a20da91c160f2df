import { filterConditions } from '../../query/filters.ts'
import { keyConditions, type LatestQuery } from '../../query/latestVersions.ts'
import { listSql } from '../../query/listPlan.ts'
import { cursorOf, isAfter, type PageKey } from '../../query/pagination.ts'
import { type ExportOptions, formatClause, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { dimensionFields, exportFields, type RowField } from '../../rows/exportFields.ts'
import { fieldsOf } from '../../rows/versions.ts'
import { ch, count, type Fragment, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { VersionPlan } from './plan.ts'

/** The conditions of a list: account and range hold for every version, the filters for the latest one. */
export function versionQuery(plan: VersionPlan): LatestQuery {
  const { table, accountId, range, isOldestFirst, filters, withTests } = plan
  const versionConditions = [...(withTests ? [] : [ch`NOT is_test`]), ...filterConditions(filters, table)]
  return { table, accountId, range, isOldestFirst, versionConditions }
}

/**
 * The next versions that match the filters, in the order of `stored_at`. An erasure gives several versions of an id one
 * `stored_at`: the first of these is the only one that can be current.
 * @param isLatestOnly whether superseded versions are left out, which collapses the versions of all rows
 * @returns rows `atMs`, `id`: the key in this order; `tableMs`, `id`: the sort key of the table
 */
export function storedVersionsSql(
  plan: VersionPlan,
  lastKey: PageKey | undefined,
  limit: number,
  isLatestOnly: boolean,
): Fragment {
  const time = timeColumns[plan.table]
  const conditions = [
    ...listSql(plan, time).conditions,
    isAfter(lastKey, ch`stored_at`, ch`id`, true),
    ch`NOT is_deleted`,
    ...versionQuery(plan).versionConditions,
  ]
  return ch`
SELECT toUnixTimestamp64Milli(stored_at) AS atMs, id, toUnixTimestamp64Milli(${time}) AS tableMs
FROM ${identifier(plan.table)}${isLatestOnly ? ch` FINAL` : nothing}
WHERE ${join(conditions, '\n  AND ')}
ORDER BY stored_at, id, version DESC
LIMIT ${count(limit)}`
}

/**
 * All rows of a list in an export format; the filters apply to the latest version of each. The latest versions are chosen
 * in the order of the table: FINAL would have to sort for newest first.
 * @param entities ids and names of campaigns and other entities
 */
export function versionExportSql(plan: VersionPlan, entities: readonly RowField[], options: ExportOptions): Fragment {
  const { table } = plan
  const [time, from] = [timeColumns[table], identifier(table)]
  const query = versionQuery(plan)
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const { at, direction, conditions } = listSql(plan, time)
  const inOrder = join([...conditions, isAfter(plan.after, at, ch`id`, plan.isOldestFirst)], '\n  AND ')
  const hasVersion = ch`(${time}, id) IN (SELECT ${time}, id FROM ${from} WHERE ${inOrder})`
  const ofAll = isByStoredAt ? [...keyConditions(query, undefined), hasVersion] : keyConditions(query, plan.after)
  const ofLatest = [ch`NOT is_deleted`, ...query.versionConditions, ...(isByStoredAt ? [inOrder] : [])]
  const fields = [
    ...exportFields(fieldsOf(table), plan.currency, entities),
    { name: 'storedAt', value: ch`stored_at` },
    ...dimensionFields(table, options.selected),
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.boundTo) },
  ]
  return ch`
SELECT
  ${selectList(fields, options)}
FROM (
  SELECT *
  FROM ${from}
  WHERE ${join(ofAll, '\n  AND ')}
  ORDER BY ${time} ${direction}, id ${direction}, version DESC
  LIMIT 1 BY ${time}, id
)
WHERE ${join(ofLatest, '\n  AND ')}
ORDER BY ${at} ${direction}, id ${direction}
${formatClause(options.format)}`
}
