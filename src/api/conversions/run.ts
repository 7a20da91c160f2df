import type { Conversion } from '../../../schema/conversion.ts'
import type { RouteContext } from '../../http/context.ts'
import { approximateRounds, findLatestVersions, keyConditions } from '../../query/latestVersions.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import {
  conversionKey,
  conversionWriter,
  keyText,
  readConversions,
  readNewestConversions,
  type StoredConversion,
} from '../../rows/conversions.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionQuery, storedVersionsSql } from './sql.ts'

/**
 * Reads one page of conversions, each in its latest version; the filters apply to that version.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listConversions(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<PageRows<Conversion>> {
  const isByStoredAt = plan.updatedSinceMs !== undefined
  const state = conversionQuery(plan).versionConditions
  const readAt: ReadAt = (keys) =>
    readConversions(context, plan.accountId, keys, { state, label: 'conversions.rows', signal })
  const find = isByStoredAt ? findByStoredAt : findByTime
  const rows = await find(context, plan, readAt, signal)
  const keyOf = (row: StoredConversion) => (isByStoredAt ? storedKey(row) : conversionKey(row))
  const page = toPage(rows, plan.limit, keyOf, plan.boundTo)
  return { ...page, data: page.data.map(await conversionWriter(context, plan, page.data)) }
}

/** Reads the latest versions of the rows at some keys that match the filters, in the order of the keys. */
type ReadAt = (keys: PageKey[]) => Promise<StoredConversion[]>

function storedKey({ storedAt, id }: StoredConversion): PageKey {
  return { atMs: Number(storedAt), id }
}

/** Versions to read for each row of a page: some conversions have several. */
const versionsPerRow = 1.5

/**
 * Finds the next `limit + 1` conversions in the order of `convertedAt`. A list without filters, newest first, has most
 * conversions, so it reads them with their keys; what is still missing, and other lists, are found by their keys.
 */
async function findByTime(
  context: RouteContext,
  plan: ConversionPlan,
  readAt: ReadAt,
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const options = { label: 'conversions.page', signal }
  const limit = plan.limit + 1
  const query = conversionQuery(plan)
  let from = plan.after
  const found: StoredConversion[] = []
  if (!plan.isOldestFirst && plan.filters.length === 0) {
    const versionsMax = Math.ceil(versionsPerRow * limit)
    const read = await readNewestConversions(context, keyConditions(query, from), versionsMax, {
      ...options,
      state: query.versionConditions,
    })
    found.push(...read.rows)
    if (read.isEnd || found.length >= limit) return found.slice(0, limit)
    from = read.after ?? from
  }
  const rest = await findLatestVersions(context.stores.clickhouse, query, from, limit - found.length, options, readAt)
  return [...found, ...rest]
}

/**
 * Finds the next `limit + 1` conversions, or more, in the order of `storedAt`: versions that match, without the superseded ones.
 * A conversion that gets a new version in the meantime is listed again later. Each round reads more versions than the one before;
 * if most are superseded, the last round collapses the versions of all conversions.
 */
async function findByStoredAt(
  context: RouteContext,
  plan: ConversionPlan,
  readAt: ReadAt,
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const rows: StoredConversion[] = []
  let from = plan.after
  for (let round = 1; ; round++) {
    const isLatestOnly = round > approximateRounds
    const versionsMax = (plan.limit + 1 - rows.length) * (isLatestOnly ? 1 : 2 ** round)
    const query = storedVersionsSql(plan, from, versionsMax, isLatestOnly)
    const options = { label: 'conversions.list', signal }
    const versions = await selectRows<PageKey & { convertedMs: number }>(context.stores.clickhouse, query, options)
    const keys = versions.map(({ id, convertedMs }) => ({ id, atMs: convertedMs }))
    const latest = await readAt(keys)
    const rowOf = new Map(latest.map((row) => [keyText(storedKey(row)), row]))
    rows.push(...[...new Set(versions.map(keyText))].flatMap((version) => rowOf.get(version) ?? []))
    // A conversion may have changed since its version was read, so a full set of versions does not mean a full page.
    if (rows.length > plan.limit || versions.length < versionsMax) return rows
    from = versions.at(-1)
  }
}
