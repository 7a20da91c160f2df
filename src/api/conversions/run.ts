import type { Conversion } from '../../../schema/conversion.ts'
import type { RouteContext } from '../../http/context.ts'
import { findLatestVersions } from '../../query/latestVersions.ts'
import { after, type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import {
  conversionKey,
  conversionWriter,
  readConversions,
  readNewestConversions,
  type StoredConversion,
} from '../../rows/conversions.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionQuery, isDense, oldestKeysSql, storedVersionsSql } from './sql.ts'

/** A page; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type ConversionRows = PageRows<Conversion> & { asOf: string | null }

/**
 * Reads one page of conversions, each in its latest version; the filters apply to that version.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listConversions(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<ConversionRows> {
  if (plan.order.updatedSinceMs !== undefined) return listByStoredAt(context, plan, signal)
  if (plan.order.isOldestFirst) return listOldestFirst(context, plan, signal)
  const rows = await findNewest(context, plan, signal)
  const page = toPage(rows, plan.limit, conversionKey, plan.fingerprint)
  return { ...page, data: page.data.map(await conversionWriter(context, plan, page.data)), asOf: null }
}

/** Versions to read for each row of a page: some conversions have several. */
const versionsPerRow = 1.5

/**
 * Finds the next `limit + 1` conversions, newest first. A list without filters has most conversions, so it reads them with their
 * keys; what is still missing, and lists with filters, are found by their keys.
 */
async function findNewest(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const options = { label: 'conversions.page', signal }
  const limit = plan.limit + 1
  const query = conversionQuery(plan)
  let from = plan.after
  const found: StoredConversion[] = []
  if (isDense(plan)) {
    const conditions = [...query.keyConditions, after(from, query.at, query.id)]
    const state = query.versionConditions
    const read = await readNewestConversions(context, conditions, Math.ceil(versionsPerRow * limit), {
      ...options,
      state,
    })
    found.push(...read.rows)
    if (read.isEnd || found.length >= limit) return found.slice(0, limit)
    from = read.after ?? from
  }
  const readAt = (keys: PageKey[]) => readLatest(context, plan, keys, signal)
  const rest = await findLatestVersions(context.stores.clickhouse, query, from, limit - found.length, options, readAt)
  return [...found, ...rest]
}

/** Reads one page in ascending order of `convertedAt`. */
async function listOldestFirst(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<ConversionRows> {
  const keys = await selectRows<PageKey>(context.stores.clickhouse, oldestKeysSql(plan, plan.limit + 1), {
    label: 'conversions.page',
    signal,
  })
  const page = toPage(keys, plan.limit, (key) => key, plan.fingerprint)
  const rows = (await readLatest(context, plan, page.data, signal)).reverse()
  return { ...page, data: rows.map(await conversionWriter(context, plan, rows)), asOf: null }
}

/** Reads the latest versions of the rows at these keys that match the filters, newest first. */
function readLatest(
  context: RouteContext,
  plan: ConversionPlan,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const { versionConditions } = conversionQuery(plan)
  return readConversions(context, plan.accountId, keys, { state: versionConditions, label: 'conversions.rows', signal })
}

/** Rounds of candidates, of which some may be superseded, before the exact query. */
const approximateRounds = 3

/**
 * Reads one page in the order of `storedAt`: versions that match, of which those that are still the latest are returned. A
 * conversion that gets a new version in the meantime is listed again later. Each round reads more versions than the one
 * before; if most are superseded, the last round collapses the versions of all conversions.
 */
async function listByStoredAt(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<ConversionRows> {
  const { clickhouse, postgres } = context.stores
  const asOfMs = await readWatermark(postgres, plan.accountId, 'conversions')
  const rows: StoredConversion[] = []
  let from = plan.after
  let isRead = false
  for (let round = 1; !isRead && rows.length <= plan.limit; round++) {
    const isLatestOnly = round > approximateRounds
    const versionsMax = (plan.limit + 1 - rows.length) * (isLatestOnly ? 1 : 2 ** round)
    const versions = await selectRows<StoredVersion>(
      clickhouse,
      storedVersionsSql(plan, from, asOfMs, versionsMax, isLatestOnly),
      { label: 'conversions.list', signal },
    )
    rows.push(...(await readUnchanged(context, plan, versions, signal)))
    from = versions.at(-1)
    // A conversion may have changed since its version was read, so a full set of versions does not mean a full page.
    isRead = versions.length < versionsMax
  }
  const page = toPage(rows, plan.limit, ({ storedAt, id }) => ({ atMs: Number(storedAt), id }), plan.fingerprint)
  const data = page.data.map(await conversionWriter(context, plan, page.data))
  return { ...page, data, asOf: toInstantText(asOfMs) }
}

/** The key of a version in the order of `storedAt`, and `convertedAt`, epoch milliseconds. */
type StoredVersion = PageKey & { convertedMs: number }

/** Reads the versions that are the latest of their conversion, in their order; a repeated key once. */
async function readUnchanged(
  context: RouteContext,
  plan: ConversionPlan,
  versions: readonly StoredVersion[],
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const keys = versions.map(({ id, convertedMs }) => ({ id, atMs: convertedMs }))
  const latest = await readLatest(context, plan, keys, signal)
  const byVersion = new Map(latest.map((row) => [`${row.storedAt} ${row.id}`, row]))
  const order = new Set(versions.map(({ atMs, id }) => `${atMs} ${id}`))
  return [...order].flatMap((version) => byVersion.get(version) ?? [])
}
