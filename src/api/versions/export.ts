import { keyConditions } from '../../query/latestVersions.ts'
import { listSql } from '../../query/listPlan.ts'
import { cursorOf, isAfter } from '../../query/pagination.ts'
import { type ExportOptions, formatClauses, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { dimensionFields, exportFields, type RowField } from '../../rows/exportFields.ts'
import { layouts } from '../../rows/versions.ts'
import { ch, type Fragment, identifier, join } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { type VersionPlan, versionQuery } from './page.ts'

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
    ...exportFields(layouts[table].fields, plan.currency, entities),
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
${formatClauses[options.format]}`
}
