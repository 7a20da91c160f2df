import { type LatestQuery, latestVersions } from '../../query/latestVersions.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { byKey, readPage, type Source } from '../../query/readPage.ts'
import {
  conversionKey,
  conversionValue,
  conversionWriter,
  keyText,
  readCollapsed,
  readConversions,
  readNextVersions,
  type StoredConversion,
} from '../../rows/conversions.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionQuery, storedVersionsSql } from './sql.ts'

type ConversionSource = Source<PageKey, StoredConversion>

/** Reads one page of conversions as JSON, each in its latest version; the filters apply to that version. */
export async function listConversions(context: RowContext, plan: ConversionPlan): Promise<PageRows<string>> {
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const source = (isByStoredAt ? byStoredAt : byTime)(context, plan)
  const rows = await readPage([source], plan.after, plan.limit + 1)
  const page = toPage(rows, plan.limit, isByStoredAt ? storedKey : conversionKey, plan.boundTo)
  const write = await conversionWriter(context, plan, page.data)
  return { ...page, data: page.data.map((row) => write(row)) }
}

function storedKey(row: StoredConversion): PageKey {
  return { atMs: Number(conversionValue(row, 'storedAt')), id: conversionValue(row, 'id') }
}

/** The conversions in the order of `convertedAt`. */
function byTime(context: ReadContext, plan: ConversionPlan): ConversionSource {
  const query = conversionQuery(plan)
  const options = { label: 'conversions.page' }
  const ofCandidates = latestVersions(context, query, options, (keys) => readAt(context, plan, keys))
  if (plan.filters.length === 0) return allByTime(context, query, ofCandidates)
  return plan.isOldestFirst ? ofCandidates : newestMatching(context, plan, ofCandidates)
}

/** Most versions that are read at once: a few megabytes. */
const versionsMax = 10_000

/**
 * A list without filters has most conversions, so versions are read in its order, and the latest ones are chosen here, unless most
 * versions are of test conversions or deleted ones.
 */
function allByTime(context: ReadContext, query: LatestQuery, ofCandidates: ConversionSource): ConversionSource {
  let versions = 0
  let isSparse = false
  return async (after, missing) => {
    if (isSparse) return await ofCandidates(after, missing)
    // Some conversions have several versions.
    versions ||= Math.ceil(1.5 * missing)
    const { rows, last, isEnd } = await readNextVersions(context, query, after, versions)
    isSparse = 8 * rows.length < versions
    // A conversion may have more versions than were read.
    versions = last ? Math.min(2 * versions, versionsMax) : 2 * versions
    return { rows, next: last ?? after, isEnd }
  }
}

/** Spans before the end of a page, days: all versions in them are collapsed. Versions before them are collapsed at the keys of candidates. */
const collapsedDays = [2, 34]

/** The newest conversions that match filters. Most pages are found in the first days. */
function newestMatching(context: ReadContext, plan: ConversionPlan, ofCandidates: ConversionSource): ConversionSource {
  const { range, nowMs } = plan
  const query = conversionQuery(plan)
  const endMs = plan.after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const starts = collapsedDays.map((days) => Math.max(Math.floor(endMs - days * dayMs), range.fromMs ?? 0))
  return async (after, missing) => {
    const fromMs = starts.shift()
    if (fromMs === undefined) return await ofCandidates(after, missing)
    const rows = await readCollapsed(context, { ...query, range: { ...range, fromMs } }, after, missing)
    // The next days have 17 times as many rows.
    if (17 * rows.length < missing) starts.length = 0
    const last = rows.at(-1)
    return { rows, next: last ? conversionKey(last) : after, isEnd: fromMs === range.fromMs }
  }
}

/** The latest versions of the rows at some keys that match the filters, in the order of the keys. */
function readAt(context: ReadContext, plan: ConversionPlan, keys: PageKey[]) {
  const state = conversionQuery(plan).versionConditions
  return readConversions(context, plan.accountId, keys, { state, label: 'conversions.rows' })
}

/**
 * The conversions in the order of `storedAt`: versions that match, without the superseded ones. A conversion that gets a new version
 * in the meantime is listed again later.
 */
function byStoredAt(context: ReadContext, plan: ConversionPlan): ConversionSource {
  return byKey<PageKey & { convertedMs?: number }, StoredConversion>({
    keysPerRow: 2,
    keys: (after, limit, isExact) =>
      readRows(context, storedVersionsSql(plan, after, limit, isExact), 'conversions.list'),
    async rows(versions) {
      const keys = versions.map(({ id, atMs, convertedMs = atMs }) => ({ id, atMs: convertedMs }))
      const latest = await readAt(context, plan, keys)
      const rowOf = new Map(latest.map((row) => [keyText(storedKey(row)), row]))
      return versions.flatMap((version) => rowOf.get(keyText(version)) ?? [])
    },
  })
}
