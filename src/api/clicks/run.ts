import type { RouteContext } from '../../http/context.ts'
import { findLatestVersions } from '../../query/latestVersions.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import type { FoundClick } from '../../rows/clicks.ts'
import {
  type ListedClick,
  readClicks,
  readConversionCounts,
  readFoundClicks,
  textOf,
  writeClicks,
} from '../../rows/clicksByKey.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { type FoundKey, findNewest } from './newest.ts'
import type { ClickPlan } from './plan.ts'
import { clickListSql, convertedQuery, hasConvertedQuery } from './sql.ts'

/** A page of rows as JSON; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type ClickRows = PageRows<string> & { asOf: string | null }

/**
 * Reads one page of clicks. All pages together contain each click that existed before the first page exactly once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export function listClicks(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  if (plan.order.isOldestFirst) return listOldestFirst(context, plan, signal)
  return plan.converted && hasConvertedQuery(plan)
    ? listConverted(context, plan, signal)
    : listNewestFirst(context, plan, signal)
}

async function listNewestFirst(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  const page = toPage(await findNewest(context, plan, signal), plan.limit, (key) => key, plan.fingerprint)
  const uncounted = page.data.filter(({ conversionCount }) => conversionCount === undefined)
  const [counts, clicks] = await Promise.all([
    readConversionCounts(context.stores.clickhouse, plan.accountId, uncounted, signal),
    readMissing(context, plan, page.data, signal),
  ])
  for (const key of page.data) if (key.conversionCount) counts.set(textOf(key), key.conversionCount)
  return { ...page, data: jsonOf(await writeClicks(context, plan, clicks, counts)), asOf: null }
}

/** Reads the clicks that were not read with their keys. */
async function readMissing(
  { stores }: RouteContext,
  plan: ClickPlan,
  found: readonly FoundKey[],
  signal: AbortSignal,
): Promise<FoundClick[]> {
  const missing = found.filter(({ click }) => !click)
  const read = await readFoundClicks(stores.clickhouse, plan, missing, signal)
  const byId = new Map(read.map((click) => [click.id, click]))
  return found.flatMap(({ id, click }) => click ?? byId.get(id) ?? [])
}

const jsonOf = (clicks: readonly ListedClick[]) => clicks.map(({ json }) => json)

/** Reads one page of the clicks with conversions, newest first. */
async function listConverted(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  const readConverted = async (keys: PageKey[]) => {
    const clicks = await readClicks(context, plan, keys, signal)
    return clicks.filter(({ conversionCount }) => conversionCount > 0)
  }
  const clicks = await findLatestVersions(
    context.stores.clickhouse,
    convertedQuery(plan),
    plan.after,
    plan.limit + 1,
    { label: 'clicks.converted', signal },
    readConverted,
  )
  const page = toPage(clicks, plan.limit, (key) => key, plan.fingerprint)
  return { ...page, data: jsonOf(page.data), asOf: null }
}

/** Reads one page in ascending order of `clickedAt`, or of `storedAt` with `updated_since` or `updated_after`. */
async function listOldestFirst(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  const { stores } = context
  const isByStoredAt = plan.order.updatedSinceMs !== undefined
  const asOfMs = isByStoredAt ? await readWatermark(stores.postgres, plan.accountId, 'clicks') : undefined
  const keys = await selectRows<PageKey & { clickedMs: number }>(
    stores.clickhouse,
    clickListSql(plan, asOfMs, plan.limit + 1),
    { label: 'clicks.list', signal },
  )
  const page = toPage(keys, plan.limit, (key) => key, plan.fingerprint)
  const sortKeys = page.data.map(({ id, clickedMs }) => ({ id, atMs: clickedMs }))
  const data = jsonOf(await readClicks(context, plan, sortKeys, signal))
  return { ...page, data, asOf: asOfMs === undefined ? null : toInstantText(asOfMs) }
}
