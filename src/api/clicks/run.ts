import type { Click } from '../../../schema/click.ts'
import type { RouteContext } from '../../http/context.ts'
import { findLatestVersions } from '../../query/latestVersions.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import {
  betweenKeys,
  inKeys,
  readClicks,
  readConversionCounts,
  readStoredClicks,
  toClicks,
} from '../../rows/clicksByKey.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { type FoundClick, findNewest } from './newest.ts'
import type { ClickPlan } from './plan.ts'
import { clickListSql, convertedQuery, hasConvertedQuery, isUnfiltered } from './sql.ts'

/** A page; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type ClickRows = PageRows<Click> & { asOf: string | null }

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
  const found = await findNewest(context, plan, signal)
  const page = toPage(found, plan.limit, (key) => key, plan.fingerprint)
  return { ...page, data: await readFound(context, plan, page.data, signal), asOf: null }
}

/** Reads the rows that were not read with their keys, and conversion counts. */
async function readFound(
  context: RouteContext,
  plan: ClickPlan,
  found: readonly FoundClick[],
  signal: AbortSignal,
): Promise<Click[]> {
  if (found.length === 0) return []
  const { clickhouse } = context.stores
  const withRows = found.flatMap(({ row }) => row ?? [])
  const [counts, rows] = await Promise.all([
    readConversionCounts(clickhouse, plan.accountId, isUnfiltered(plan) ? betweenKeys(found) : inKeys(found), signal),
    readStoredClicks(clickhouse, plan, found.slice(withRows.length), signal),
  ])
  return toClicks(context, plan, [...withRows, ...rows], counts)
}

/** Reads one page of the clicks with conversions, newest first. */
async function listConverted(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  const readConverted = async (keys: PageKey[]) => {
    const clicks = await readClicks(context, plan, keys, signal)
    return clicks.filter(({ converted }) => converted)
  }
  const clicks = await findLatestVersions(
    context.stores.clickhouse,
    convertedQuery(plan),
    plan.after,
    plan.limit + 1,
    { label: 'clicks.converted', signal },
    readConverted,
  )
  const keyOf = ({ clickedAt, id }: Click): PageKey => ({ atMs: Date.parse(clickedAt), id })
  return { ...toPage(clicks, plan.limit, keyOf, plan.fingerprint), asOf: null }
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
  const data = await readClicks(context, plan, sortKeys, signal)
  return { ...page, data, asOf: asOfMs === undefined ? null : toInstantText(asOfMs) }
}
