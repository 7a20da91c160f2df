import { filterConditions } from '../../query/filters.ts'
import { type LatestQuery, latestVersions, type VersionedTable } from '../../query/latestVersions.ts'
import { byKey, type PageRows, readNext, type Source, toPage } from '../../query/list.ts'
import { type ListPlan, listSql, newestEndMs } from '../../query/listPlan.ts'
import { isAfter, type PageKey } from '../../query/pagination.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import type { RowText } from '../../rows/rowSerializer.ts'
import { keyOf, keyText, readCollapsed, readLatest, readNextVersions, versionSerializer } from '../../rows/versions.ts'
import { ch, count, identifier, join, nothing } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { dayMs } from '../../stores/timing/units.ts'

/** A list of rows that change, each in its latest version. */
export interface VersionPlan extends ListPlan {
  table: VersionedTable
  withTests: boolean
}

type VersionSource = Source<PageKey, RowText>

/** Reads one page of rows as JSON, each in its latest version; the filters apply to that version. */
export async function listVersions(context: RowContext, plan: VersionPlan): Promise<PageRows> {
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const source = (isByStoredAt ? byStoredAt : byTime)(context, plan)
  const next = await readNext([source], plan.after, plan.limit + 1)
  const toJson = await versionSerializer(context, plan, next.rows.slice(0, plan.limit))
  return toPage(next, plan, (row) => keyOf(plan.table, row, isByStoredAt ? 'storedAt' : undefined), toJson)
}

/** The rows in the order of their time. */
function byTime(context: ReadContext, plan: VersionPlan): VersionSource {
  const query = versionQuery(plan)
  const options = { label: `${plan.table}.page` }
  const ofCandidates = latestVersions(context, query, options, (keys) => readAt(context, plan, keys))
  if (plan.filters.length === 0) return allByTime(context, query, ofCandidates)
  return plan.isOldestFirst ? ofCandidates : newestMatching(context, plan, ofCandidates)
}

/** Most versions that are read at once: a few megabytes. */
const versionsMax = 10_000

/**
 * A list without filters has most rows, so versions are read in its order, and the latest ones are chosen here, unless most
 * versions are of test conversions or deleted ones.
 */
function allByTime(context: ReadContext, query: LatestQuery, ofCandidates: VersionSource): VersionSource {
  let versions = 0
  let isSparse = false
  return async (after, missing) => {
    if (isSparse) return await ofCandidates(after, missing)
    // Some rows have several versions.
    versions ||= Math.ceil(1.5 * missing)
    const { rows, last, isEnd, isFull } = await readNextVersions(context, query, after, versions)
    // A row may have more versions, or longer ones, than were read.
    isSparse = isFull ? !last : 8 * rows.length < versions
    versions = last ? Math.min(2 * versions, versionsMax) : 2 * versions
    return { rows, next: last ?? after, isEnd, isFull }
  }
}

/** Spans before the end of a page, days: all versions in them are collapsed. Versions before them are collapsed at the keys of candidates. */
const collapsedDays = [2, 34]

/** The newest rows that match filters. Most pages are found in the first days. */
function newestMatching(context: ReadContext, plan: VersionPlan, ofCandidates: VersionSource): VersionSource {
  const { range } = plan
  const query = versionQuery(plan)
  const endMs = newestEndMs(plan)
  const starts = collapsedDays.map((days) => Math.max(Math.floor(endMs - days * dayMs), range.fromMs ?? 0))
  return async (after, missing) => {
    const fromMs = starts.shift()
    if (fromMs === undefined) return await ofCandidates(after, missing)
    const { rows, isFull } = await readCollapsed(context, { ...query, range: { ...range, fromMs } }, after, missing)
    // The next days have 17 times as many rows.
    if (17 * rows.length < missing) starts.length = 0
    const last = rows.at(-1)
    return { rows, next: last ? keyOf(plan.table, last) : after, isEnd: !isFull && fromMs === range.fromMs, isFull }
  }
}

/** The latest versions of the rows at some keys that match the filters, in the order of the keys. */
function readAt(context: ReadContext, plan: VersionPlan, keys: PageKey[]) {
  const state = versionQuery(plan).versionConditions
  return readLatest(context, plan, keys, { state, label: `${plan.table}.rows` })
}

/**
 * The rows in the order of `storedAt`: versions that match, without the superseded ones. A row that gets a new version
 * in the meantime is listed again later.
 */
function byStoredAt(context: ReadContext, plan: VersionPlan): VersionSource {
  return byKey<PageKey & { tableMs?: number }, RowText>({
    keysPerRow: 2,
    keys: (after, limit, isExact) =>
      readRows(context, storedVersionsSql(plan, after, limit, isExact), `${plan.table}.list`),
    async rows(versions) {
      const keys = versions.map(({ id, atMs, tableMs = atMs }) => ({ id, atMs: tableMs }))
      const latest = await readAt(context, plan, keys)
      if (!latest) return undefined
      const rowOf = new Map(latest.map((row) => [keyText(keyOf(plan.table, row, 'storedAt')), row]))
      return versions.flatMap((version) => rowOf.get(keyText(version)) ?? [])
    },
  })
}

/**
 * The next versions that match the filters, in the order of `stored_at`. An erasure gives several versions of an id one
 * `stored_at`: the first of these is the only one that can be current.
 * @param isLatestOnly whether superseded versions are left out, which collapses the versions of all rows
 * @returns rows `atMs`, `id`: the key in this order; `tableMs`, `id`: the sort key of the table
 */
function storedVersionsSql(plan: VersionPlan, lastKey: PageKey | undefined, limit: number, isLatestOnly: boolean) {
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

/** The conditions of a list: account and range hold for every version, the filters for the latest one. */
export function versionQuery(plan: VersionPlan): LatestQuery {
  const { table, accountId, range, isOldestFirst, filters, withTests } = plan
  const versionConditions = [...(withTests ? [] : [ch`NOT is_test`]), ...filterConditions(filters, table)]
  return { table, accountId, range, isOldestFirst, versionConditions }
}
