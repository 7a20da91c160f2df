import type { ClickHouse } from '../stores/clickhouse/connection.ts'
import { type QueryOptions, selectRows } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, join, nothing } from '../stores/clickhouse/sql.ts'
import { after, type PageKey } from './pagination.ts'

/**
 * Which rows are asked for in a table that keeps every version of a row until it is merged: conversions, and the
 * clicks that have them.
 */
export interface LatestQuery {
  table: Fragment
  /** The moment and the id in the table's sort key. */
  at: Fragment
  id: Fragment
  /** What holds for every version of a row alike, since it is in the sort key: account, range. */
  keyConditions: readonly Fragment[]
  /** What the latest version has to fulfil; it may have changed from one to the next. */
  versionConditions: readonly Fragment[]
  /** One of these too, at least. Each is looked for on its own, so that it can use an index of its own. */
  keyAlternatives?: readonly Fragment[]
  /** Instead of `anyOf` when candidates are looked for: cheaper, and lets pass some rows more. */
  indexedAlternatives?: readonly Fragment[]
}

/** How often candidates are read loosely before the question is asked to the letter. */
const looseRounds = 3

/** Keys that are read on top of what a page lacks, since a candidate may turn out to be none. */
const spareKeys = 8

/**
 * Finds the next rows whose latest version fulfils the question, newest first. Any version that fulfils it makes a row
 * a candidate: these are read in the order of the sort key, so that a page costs what it holds however deep it lies,
 * and only they are collapsed. Where most candidates turn out to be none, the last round collapses all.
 * @param from where the page before ended
 * @param readAt reads the latest versions of the rows at these keys (at most `limit` and eight), in their order, and
 *   leaves out those that do not fulfil the question
 * @returns at most `limit` rows, fewer only when there are no more
 */
export async function findLatestVersions<Row>(
  clickhouse: ClickHouse,
  question: LatestQuery,
  from: PageKey | undefined,
  limit: number,
  options: QueryOptions,
  readAt: (keys: PageKey[]) => Promise<Row[]>,
): Promise<Row[]> {
  const read = (sql: Fragment) => selectRows<PageKey>(clickhouse, sql, options)
  const rows: Row[] = []
  let after = from
  for (let round = 0; round < looseRounds; round++) {
    const missing = limit - rows.length
    // A row that fulfils several of them is found by each, and some are found loosely.
    const candidates = question.keyAlternatives
      ? 3 * missing * question.keyAlternatives.length
      : Math.ceil(1.5 * missing)
    const found = await read(looseSql(question, after, candidates))
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
    const keys = await toTheLetter(missing)
    rows.push(...(await readAt(keys)))
    // A row may have changed since its key was found: then as many as were asked for are not all.
    if (rows.length >= limit || keys.length < missing) return rows
    after = keys.at(-1)
  }

  async function toTheLetter(missing: number): Promise<PageKey[]> {
    const candidates = 12 * missing
    const keys = await read(latestSql(question, after, missing, candidates))
    if (keys.length === missing) return keys
    const more = await read(candidatesSql(question, after, candidates + 1, candidates))
    return more.length === 0 ? keys : await read(latestSql(question, after, missing, undefined))
  }
}

function looseSql(question: LatestQuery, from: PageKey | undefined, limit: number): Fragment {
  const { at, id, indexedAlternatives: anyOfLoosely } = question
  const candidates = candidatesSql(
    anyOfLoosely ? { ...question, keyAlternatives: anyOfLoosely } : question,
    from,
    limit,
  )
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, ${id} AS id
FROM (${candidates})
ORDER BY atMs DESC, id DESC`
}

/** All that the latest version of a row has to fulfil. */
function stateOf({ versionConditions: state, keyAlternatives: anyOf }: LatestQuery): Fragment[] {
  return anyOf ? [...state, ch`(${join(anyOf, ' OR ')})`] : [...state]
}

function latestSql(
  question: LatestQuery,
  from: PageKey | undefined,
  limit: number,
  candidates: number | undefined,
): Fragment {
  const { table, at, id, keyConditions: place } = question
  const among = candidates === undefined ? [] : [ch`(${at}, ${id}) IN (${candidatesSql(question, from, candidates)})`]
  return ch`
SELECT DISTINCT toUnixTimestamp64Milli(${at}) AS atMs, ${id} AS id
FROM ${table} FINAL
WHERE ${join([...place, after(from, at, id), ...among, ...stateOf(question)], '\n  AND ')}
ORDER BY atMs DESC, id DESC
LIMIT ${count(limit)}`
}

/** The first rows any version of which fulfils the question, some of them perhaps repeated. */
function candidatesSql(question: LatestQuery, from: PageKey | undefined, limit: number, skipped = 0): Fragment {
  const { at, id, versionConditions: state, keyAlternatives: anyOf } = question
  const order = ch`ORDER BY ${at} DESC, ${id} DESC`
  const rows = skipped === 0 ? ch`LIMIT ${count(limit)}` : ch`LIMIT ${count(limit - skipped)} OFFSET ${count(skipped)}`
  if (!anyOf) {
    return ch`
${matchingSql(question, from, state)}
${order}
${rows}`
  }
  const each = anyOf.map(
    (one) => ch`SELECT * FROM (${matchingSql(question, from, [...state, one])}
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
 * TRAP: without PREWHERE the id of every row is read, also of those that the state rules out (ClickHouse 26.7 puts a
 * filter of its own there for ORDER BY … LIMIT); and DISTINCT here would read the whole table.
 */
function matchingSql(
  { table, at, id, keyConditions: place }: LatestQuery,
  from: PageKey | undefined,
  state: readonly Fragment[],
) {
  const prewhere = ch`
PREWHERE ${join(state, '\n  AND ')}`
  return ch`
SELECT ${at}, ${id}
FROM ${table}${state.length === 0 ? nothing : prewhere}
WHERE ${join([...place, after(from, at, id)], '\n  AND ')}`
}
