import type { RowFormat } from '../../../schema/rowFormat.ts'
import type { LatestQuery } from '../../query/latestVersions.ts'
import { after, afterOldest, cursorOf, type PageKey } from '../../query/pagination.ts'
import type { CsvEscape } from '../../rows/csvEscape.ts'
import { conversionFields, type RowField } from '../../rows/exportFields.ts'
import { formatClause, selectList } from '../../rows/exportFormat.ts'
import { ch, count, type Fragment, instant, join, text, texts } from '../../stores/clickhouse/sql.ts'
import type { ConversionPlan } from './plan.ts'

/** What a page asks of conversions: account and range of every version, the filters of the latest one. */
export function conversionQuery(plan: ConversionPlan): LatestQuery {
  const { range, campaignId, statuses, source, withTests } = plan
  return {
    table: ch`conversions`,
    at: ch`converted_at`,
    id: ch`id`,
    keyConditions: [
      ch`account_id = ${text(plan.accountId)}`,
      ...(range.fromMs === undefined ? [] : [ch`converted_at >= ${instant(range.fromMs)}`]),
      ...(range.untilMs === undefined ? [] : [ch`converted_at < ${instant(range.untilMs)}`]),
    ],
    versionConditions: [
      ...(withTests ? [] : [ch`NOT is_test`]),
      ...(statuses === undefined ? [] : [ch`status IN ${texts(statuses)}`]),
      ...(source === undefined ? [] : [ch`source = ${text(source)}`]),
      ...(campaignId === undefined ? [] : [ch`campaign_id = ${text(campaignId)}`]),
    ],
  }
}

/**
 * The next versions of a walk by the moment that they were stored, deleted and superseded ones too.
 * TRAP: a conversion that moved has two with one moment and id, the deleted one and its successor; they are not to be
 * torn apart.
 * @param limit one or two more, where it falls between those
 * @returns rows `atMs`, `id`: where a version stands in the walk; and `convertedMs`: where it stands in the table
 */
export function storedVersionsSql(
  plan: ConversionPlan,
  from: PageKey | undefined,
  asOfMs: number,
  limit: number,
): Fragment {
  return ch`
SELECT toUnixTimestamp64Milli(stored_at) AS atMs, id, toUnixTimestamp64Milli(converted_at) AS convertedMs
FROM conversions
WHERE ${join([...storedSince(plan, asOfMs), afterOldest(from, ch`stored_at`, ch`id`)], '\n  AND ')}
ORDER BY stored_at, id
LIMIT ${count(limit)} WITH TIES`
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
  const { keyConditions: place, versionConditions: state } = conversionQuery(plan)
  const conditions = [...place, afterOldest(plan.after, ch`converted_at`, ch`id`)]
  return ch`
SELECT toUnixTimestamp64Milli(converted_at) AS atMs, id
FROM (${latestSql(conditions, ch`ASC`)})
WHERE ${join([ch`NOT is_deleted`, ...state], '\n  AND ')}
ORDER BY converted_at, id
LIMIT ${count(limit)}`
}

/**
 * The latest versions of rows, read in the order of the table, one after the other: FINAL would have to sort for newest
 * first. Deleted ones are among them.
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
 * All conversions of a list, as ClickHouse writes them; each in its latest version, which alone is judged.
 * @param places ids and names of campaigns and the like
 * @param asOfMs where a walk by the moment of storing ends
 */
export function conversionExportSql(
  plan: ConversionPlan,
  places: readonly RowField[],
  { format, csvEscape, asOfMs }: { format: RowFormat; csvEscape: CsvEscape; asOfMs: number },
): Fragment {
  const { keyConditions: place, versionConditions: state } = conversionQuery(plan)
  const { isOldestFirst, updatedSinceMs } = plan.order
  const isByStoring = updatedSinceMs !== undefined
  const at = isByStoring ? ch`stored_at` : ch`converted_at`
  const isAfter = isOldestFirst ? afterOldest(plan.after, at, ch`id`) : after(plan.after, at, ch`id`)
  const direction = isOldestFirst ? ch`ASC` : ch`DESC`
  const stored = join(storedSince(plan, asOfMs), '\n  AND ')
  const touched = ch`(converted_at, id) IN (SELECT converted_at, id FROM conversions WHERE ${stored})`
  const fields = [
    ...conversionFields(plan.currency, places),
    { name: 'storedAt', value: ch`stored_at` },
    { name: 'cursor', value: cursorOf(at, ch`id`, plan.fingerprint) },
  ]
  return ch`
SELECT
  ${selectList(fields, format, csvEscape)}
FROM (${latestSql([...place, isByStoring ? touched : isAfter], direction)})
WHERE ${join([ch`NOT is_deleted`, ...state, ...(isByStoring ? [stored, isAfter] : [])], '\n  AND ')}
ORDER BY ${at} ${direction}, id ${direction}
${formatClause(format)}`
}
