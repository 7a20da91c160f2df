import type { ClickHouseSettings } from '@clickhouse/client'
import { ch, count, type Fragment, identifier, join, text } from '../stores/clickhouse/sql.ts'
import { timeColumns } from '../stores/clickhouse/tableColumns.ts'
import { inRange, prewhere } from './conditions.ts'
import { byKey, type Source } from './list.ts'
import { isAfter, type PageKey } from './pagination.ts'
import { type ReadContext, readRows } from './readContext.ts'
import type { Range } from './timeRange.ts'

// A worked example: conversions with the status `approved`, two rows per page. The table has these rows, newest first:
//
//   id   version   status     is a candidate         latest version matches
//   c4   1         approved   yes, by version 1      no: version 2 is declined
//   c4   2         declined   no
//   c3   1         pending    no
//   c3   2         approved   yes, by version 2      yes
//   c2   1         approved   yes, by version 1      yes
//
// The candidates c4, c3 and c2 are read in the order of the sort key, and only their versions are collapsed. The page has c3
// and c2. Collapsing before the condition (FINAL) would read every row of the account; a condition before collapsing shows c4.

/** Tables that contain all versions of a row until a merge. */
export type VersionedTable = 'conversions' | 'costs'

/** A query for the rows of such a table. */
export interface LatestQuery {
  table: VersionedTable
  /** Account and range are in the sort key, which is the same in every version of a row. */
  accountId: string
  range: Partial<Range>
  isOldestFirst: boolean
  /** Conditions on the latest version; other versions may have other values. */
  versionConditions: readonly Fragment[]
  /** At least one of these must hold too. Each is read by a subquery of its own, so that it can use its own index. */
  keyAlternatives?: readonly Fragment[]
  /** Replaces `keyAlternatives` while candidates are read: cheaper, and matches some rows more. */
  indexedAlternatives?: readonly Fragment[]
}

/**
 * A source of the rows that match a query in their latest version. A row is a candidate if any of its versions matches. Candidates are
 * read in the order of the sort key, and only they are collapsed. If most candidates do not match, all rows are collapsed.
 * @param readAt reads the latest versions of the rows at these keys, in their order, without those that do not match the query, as in
 *   `readAtKeys`
 */
export function latestVersions<Row>(
  context: ReadContext,
  query: LatestQuery,
  { label, settings }: { label: string; settings?: ClickHouseSettings },
  readAt: (keys: PageKey[]) => Promise<Row[] | undefined>,
): Source<PageKey, Row> {
  const read = (sql: Fragment) => readRows<PageKey>(context, sql, label, settings)
  return byKey({
    // A row that matches several alternatives is found by each of them.
    keysPerRow: query.keyAlternatives ? 3 * query.keyAlternatives.length : 1.5,
    keys: (after, limit, isExact) => (isExact ? findExactly(after, limit) : read(approximateSql(query, after, limit))),
    rows: readAt,
  })

  async function findExactly(after: PageKey | undefined, keysMax: number): Promise<PageKey[]> {
    const candidates = 12 * keysMax
    const keys = await read(latestSql(query, after, keysMax, candidates))
    if (keys.length === keysMax) return keys
    const more = await read(candidatesSql(query, after, candidates + 1, candidates))
    return more.length === 0 ? keys : await read(latestSql(query, after, keysMax, undefined))
  }
}

/** @returns the highest version of each row, in the order of the first versions */
export function latestOf<Row extends { version: number }>(versions: readonly Row[], keyOf: (row: Row) => string) {
  const latest = new Map<string, Row>()
  for (const row of versions) {
    const key = keyOf(row)
    if (row.version > (latest.get(key)?.version ?? -1)) latest.set(key, row)
  }
  return [...latest.values()]
}

function approximateSql(query: LatestQuery, lastKey: PageKey | undefined, limit: number): Fragment {
  const { indexedAlternatives } = query
  const indexed = indexedAlternatives ? { ...query, keyAlternatives: indexedAlternatives } : query
  const candidates = candidatesSql(indexed, lastKey, limit)
  return ch`
SELECT toUnixTimestamp64Milli(${timeColumns[query.table]}) AS atMs, id
FROM (${candidates})
${orderOfKeys(query)}`
}

/** The order of a query. */
export function orderOfKeys({ table, isOldestFirst }: LatestQuery): Fragment {
  const at = timeColumns[table]
  return isOldestFirst ? ch`ORDER BY ${at}, id` : ch`ORDER BY ${at} DESC, id DESC`
}

/** The conditions on the sort key: account, range, and after a key in the order of the query. */
export function keyConditions({ table, accountId, range, isOldestFirst }: LatestQuery, lastKey: PageKey | undefined) {
  const at = timeColumns[table]
  return [ch`account_id = ${text(accountId)}`, ...inRange(at, range), isAfter(lastKey, at, ch`id`, isOldestFirst)]
}

function latestSql(query: LatestQuery, lastKey: PageKey | undefined, limit: number, candidates: number | undefined) {
  const at = timeColumns[query.table]
  const among = candidates === undefined ? [] : [ch`(${at}, id) IN (${candidatesSql(query, lastKey, candidates)})`]
  const { versionConditions, keyAlternatives } = query
  const ofLatest = [...versionConditions, ...(keyAlternatives ? [ch`(${join(keyAlternatives, ' OR ')})`] : [])]
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, id
FROM ${identifier(query.table)} FINAL
WHERE ${join([...keyConditions(query, lastKey), ...among, ...ofLatest], '\n  AND ')}
${orderOfKeys(query)}
LIMIT ${count(limit)}`
}

/** The keys of the next rows with a matching version; a key may be repeated. */
function candidatesSql(query: LatestQuery, lastKey: PageKey | undefined, limit: number, skipped = 0): Fragment {
  const { versionConditions, keyAlternatives } = query
  const order = orderOfKeys(query)
  const each = keyAlternatives?.map(
    (alternative) => ch`SELECT * FROM (${matchingSql(query, lastKey, [...versionConditions, alternative])}
${order}
LIMIT ${count(limit)})`,
  )
  const matching = each
    ? ch`
SELECT ${timeColumns[query.table]}, id
FROM (
${join(each, '\nUNION ALL\n')}
)`
    : matchingSql(query, lastKey, versionConditions)
  const rows = skipped === 0 ? ch`LIMIT ${count(limit)}` : ch`LIMIT ${count(limit - skipped)} OFFSET ${count(skipped)}`
  return ch`${matching}
${order}
${rows}`
}

/**
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, even of rows that do not match (it uses PREWHERE for a
 * filter of its own with ORDER BY … LIMIT). DISTINCT here would read the whole table.
 */
function matchingSql(query: LatestQuery, lastKey: PageKey | undefined, conditions: readonly Fragment[]): Fragment {
  return ch`
SELECT ${timeColumns[query.table]}, id
FROM ${identifier(query.table)}${prewhere(conditions)}
WHERE ${join(keyConditions(query, lastKey), '\n  AND ')}`
}
