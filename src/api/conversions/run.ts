import type { Conversion } from '../../../schema/conversion.ts'
import type { RouteContext } from '../../http/context.ts'
import { findLatestVersions } from '../../query/latestVersions.ts'
import { readWatermark } from '../../query/listOrder.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { conversionKey, conversionWriter, readConversions, type StoredConversion } from '../../rows/conversions.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ConversionPlan } from './plan.ts'
import { conversionQuery, oldestKeysSql, storedVersionsSql } from './sql.ts'

/** A page, and until when it is known to be whole; null where it is not walked by the moment of storing. */
type WalkedPage = PageRows<Conversion> & { asOf: string | null }

/**
 * Reads one page of conversions, each in its latest state and under the filters that this one matches.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function listConversions(
  context: RouteContext,
  plan: ConversionPlan,
  signal: AbortSignal,
): Promise<WalkedPage> {
  const { order: walk } = plan
  if (walk.updatedSinceMs !== undefined) return listByStoredAt(context, plan, signal)
  if (walk.isOldestFirst) return listOldestFirst(context, plan, signal)
  const rows = await findLatestVersions(
    context.stores.clickhouse,
    conversionQuery(plan),
    plan.after,
    plan.limit + 1,
    { label: 'conversions.page', signal },
    (keys) => readLatest(context, plan, keys, signal),
  )
  const page = toPage(rows, plan.limit, conversionKey, plan.fingerprint)
  return { ...page, data: page.data.map(await conversionWriter(context, plan, page.data)), asOf: null }
}

/** Reads one page, oldest first. */
async function listOldestFirst(context: RouteContext, plan: ConversionPlan, signal: AbortSignal): Promise<WalkedPage> {
  const keys = await selectRows<PageKey>(context.stores.clickhouse, oldestKeysSql(plan, plan.limit + 1), {
    label: 'conversions.page',
    signal,
  })
  const page = toPage(keys, plan.limit, (key) => key, plan.fingerprint)
  const rows = (await readLatest(context, plan, page.data, signal)).reverse()
  return { ...page, data: rows.map(await conversionWriter(context, plan, rows)), asOf: null }
}

/** Reads the latest versions of the rows at these keys, newest first, and leaves out those that the plan rules out. */
function readLatest(
  context: RouteContext,
  plan: ConversionPlan,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<StoredConversion[]> {
  const { versionConditions: state } = conversionQuery(plan)
  return readConversions(context, plan.accountId, keys, { state, label: 'conversions.rows', signal })
}

/**
 * Reads one page by the moment of storing: versions in that order, and of them those that are still the latest. A
 * conversion that gets a new version meanwhile comes again later.
 */
async function listByStoredAt(context: RouteContext, plan: ConversionPlan, signal: AbortSignal): Promise<WalkedPage> {
  const asOfMs = await readWatermark(context.stores.postgres, plan.accountId, 'conversions')
  const versionsMax = 2 * plan.limit + 1
  const rows: StoredConversion[] = []
  let from = plan.after
  let isRead = false
  while (!isRead && rows.length <= plan.limit) {
    const versions = await selectRows<PageKey & { convertedMs: number }>(
      context.stores.clickhouse,
      storedVersionsSql(plan, from, asOfMs, versionsMax),
      { label: 'conversions.walk', signal },
    )
    const keys = versions.map(({ id, convertedMs }) => ({ id, atMs: convertedMs }))
    const latest = await readLatest(context, plan, keys, signal)
    const byKey = new Map(latest.map((row) => [`${row.storedAtMs} ${row.id}`, row]))
    for (const { atMs, id } of versions) {
      const row = byKey.get(`${atMs} ${id}`)
      if (row) rows.push(row)
      byKey.delete(`${atMs} ${id}`)
    }
    from = versions.at(-1)
    isRead = versions.length < versionsMax
  }
  const page = toPage(rows, plan.limit, ({ storedAtMs, id }) => ({ atMs: Number(storedAtMs), id }), plan.fingerprint)
  const data = page.data.map(await conversionWriter(context, plan, page.data))
  return { ...page, data, asOf: toInstantText(asOfMs) }
}
