import { inRange } from '../../query/conditions.ts'
import { cursorOf } from '../../query/pagination.ts'
import { type ExportOptions, formatClauses, selectList } from '../../rows/clickhouseOutputFormat.ts'
import { dimensionFields, exportFields, type RowField } from '../../rows/exportFields.ts'
import { ch, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import { clickFields } from '../../stores/clickhouse/tableColumns.ts'
import { type ClickPlan, orderedSql } from './page.ts'

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
${formatClauses[options.format]}`
}
