import type { ClickHouse } from '../stores/clickhouse/connection.ts'
import { type QueryOptions, selectRows } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, join, nothing } from '../stores/clickhouse/sql.ts'
import { after, type PageKey } from './pagination.ts'

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

/** A query for rows of a table that contains all versions of a row until a merge: conversions and converted clicks. */
export interface LatestQuery {
  table: Fragment
  /** Time and id columns of the table's sort key. */
  at: Fragment
  id: Fragment
  /** Conditions on the sort key, which is the same in every version of a row: account, range. */
  keyConditions: readonly Fragment[]
  /** Conditions on the latest version; other versions may have other values. */
  versionConditions: readonly Fragment[]
  /** At least one of these must hold too. Each is read by a subquery of its own, so that it can use its own index. */
  keyAlternatives?: readonly Fragment[]
  /** Replaces `keyAlternatives` while candidates are read: cheaper, and matches some rows more. */
  indexedAlternatives?: readonly Fragment[]
}

/** Rounds of approximate candidates before the exact query. */
const approximateRounds = 3

/** Keys read beyond the missing ones, since a candidate's latest version may not match. */
const spareKeys = 8

/**
 * Finds the next rows that match the query in their latest version, newest first. A row is a candidate if any of its versions
 * matches. Candidates are read in the order of the sort key, so that a page costs the same at any depth, and only they are
 * collapsed. If most candidates do not match, the last round collapses all rows.
 * @param from key of the last row of the previous page
 * @param readAt reads the latest versions of the rows at these keys (at most `limit` + 8), in their order, without those
 *   that do not match the query
 * @returns up to `limit` rows, fewer only when there are no more
 */
export async function findLatestVersions<Row>(
  clickhouse: ClickHouse,
  query: LatestQuery,
  from: PageKey | undefined,
  limit: number,
  options: QueryOptions,
  readAt: (keys: PageKey[]) => Promise<Row[]>,
): Promise<Row[]> {
  const read = (sql: Fragment) => selectRows<PageKey>(clickhouse, sql, options)
  const rows: Row[] = []
  let after = from
  for (let round = 0; round < approximateRounds; round++) {
    const missing = limit - rows.length
    // A row that matches several alternatives is found by each of them.
    const candidates = query.keyAlternatives ? 3 * missing * query.keyAlternatives.length : Math.ceil(1.5 * missing)
    const found = await read(approximateSql(query, after, candidates))
    const keys = found.filter(({ id, atMs }, index) => id !== found[index - 1]?.id || atMs !== found[index - 1]?.atMs)
    for (let first = 0; first < keys.length && rows.length < limit; ) {
      const next = keys.slice(first, first + limit - rows.length + spareKeys)
      rows.push(...(await readAt(next)))
      first += next.length
    }
    if (rows.length >= limit || found.length < candidates) return rows.slice(0, limit)
    after = keys.at(-1)
  }
  for (;;) {
    const missing = limit - rows.length
    const keys = await findExactly(missing)
    rows.push(...(await readAt(keys)))
    // A row may have changed since its key was read, so a full set of keys does not mean a full page.
    if (rows.length >= limit || keys.length < missing) return rows
    after = keys.at(-1)
  }

  async function findExactly(missing: number): Promise<PageKey[]> {
    const candidates = 12 * missing
    const keys = await read(latestSql(query, after, missing, candidates))
    if (keys.length === missing) return keys
    const more = await read(candidatesSql(query, after, candidates + 1, candidates))
    return more.length === 0 ? keys : await read(latestSql(query, after, missing, undefined))
  }
}

function approximateSql(query: LatestQuery, from: PageKey | undefined, limit: number): Fragment {
  const { at, id, indexedAlternatives } = query
  const indexed = indexedAlternatives ? { ...query, keyAlternatives: indexedAlternatives } : query
  const candidates = candidatesSql(indexed, from, limit)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, ${id} AS id
FROM (${candidates})
ORDER BY atMs DESC, id DESC`
}

/** All conditions on the latest version of a row. */
function latestConditions({ versionConditions, keyAlternatives }: LatestQuery): Fragment[] {
  return keyAlternatives ? [...versionConditions, ch`(${join(keyAlternatives, ' OR ')})`] : [...versionConditions]
}

function latestSql(
  query: LatestQuery,
  from: PageKey | undefined,
  limit: number,
  candidates: number | undefined,
): Fragment {
  const { table, at, id, keyConditions } = query
  const among = candidates === undefined ? [] : [ch`(${at}, ${id}) IN (${candidatesSql(query, from, candidates)})`]
  return ch`
SELECT DISTINCT toUnixTimestamp64Milli(${at}) AS atMs, ${id} AS id
FROM ${table} FINAL
WHERE ${join([...keyConditions, after(from, at, id), ...among, ...latestConditions(query)], '\n  AND ')}
ORDER BY atMs DESC, id DESC
LIMIT ${count(limit)}`
}

/** The keys of the next rows with a matching version; a key may be repeated. */
function candidatesSql(query: LatestQuery, from: PageKey | undefined, limit: number, skipped = 0): Fragment {
  const { at, id, versionConditions, keyAlternatives } = query
  const order = ch`ORDER BY ${at} DESC, ${id} DESC`
  const rows = skipped === 0 ? ch`LIMIT ${count(limit)}` : ch`LIMIT ${count(limit - skipped)} OFFSET ${count(skipped)}`
  if (!keyAlternatives) {
    return ch`
${matchingSql(query, from, versionConditions)}
${order}
${rows}`
  }
  const each = keyAlternatives.map(
    (alternative) => ch`SELECT * FROM (${matchingSql(query, from, [...versionConditions, alternative])}
${order}
LIMIT ${count(limit)})`,
  )
  return ch`
SELECT ${at}, ${id}
FROM (
${join(each, '\nUNION ALL\n')}
)
${order}
${rows}`
}

/**
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, even of rows that do not match (it uses PREWHERE for a
 * filter of its own with ORDER BY … LIMIT). DISTINCT here would read the whole table.
 */
function matchingSql(
  { table, at, id, keyConditions }: LatestQuery,
  from: PageKey | undefined,
  conditions: readonly Fragment[],
) {
  const prewhere = ch`
PREWHERE ${join(conditions, '\n  AND ')}`
  return ch`
SELECT ${at}, ${id}
FROM ${table}${conditions.length === 0 ? nothing : prewhere}
WHERE ${join([...keyConditions, after(from, at, id)], '\n  AND ')}`
}
