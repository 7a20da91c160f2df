import type { RouteContext } from '../../http/context.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import type { FoundClick } from '../../rows/clicks.ts'
import {
  countsOf,
  type ListedClick,
  readClicks,
  readConversionCounts,
  readFoundClicks,
  readNewestConverted,
  textOf,
  writeClicks,
} from '../../rows/clicksByKey.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { type FoundKey, findNewest } from './newest.ts'
import type { ClickPlan } from './plan.ts'
import { clickListSql, convertedPageConditions, hasOnlyConvertedFilters } from './sql.ts'

/** A page of rows as JSON; `asOf` is the watermark of a list ordered by `storedAt`, else null. */
type ClickRows = PageRows<string> & { asOf: string | null }

/**
 * Reads one page of clicks. All pages together contain each click that existed before the first page exactly once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export function listClicks(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  if (plan.order.isOldestFirst) return listOldestFirst(context, plan, signal)
  return plan.converted && hasOnlyConvertedFilters(plan)
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

/** Most versions of conversions that are read at once: about a megabyte. */
const versionsMax = 10_000

/** Reads one page of the clicks with conversions, newest first. */
async function listConverted(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<ClickRows> {
  const { clickhouse } = context.stores
  const limit = plan.limit + 1
  const found: ListedClick[] = []
  let from = plan.after
  for (let versions = Math.ceil(1.5 * limit); found.length < limit; ) {
    const conditions = convertedPageConditions(plan, from, plan.range)
    const { clicks, rest } = await readNewestConverted(clickhouse, plan.accountId, conditions, versions, signal)
    const converted = clicks.filter(({ conversionCount }) => conversionCount > 0)
    const next = converted.slice(0, limit - found.length)
    const rows = await readFoundClicks(clickhouse, plan, next, signal)
    found.push(...(await writeClicks(context, plan, rows, countsOf(next))))
    const isCut = next.length < converted.length
    if (!rest && !isCut) break
    from = (isCut ? next : clicks).at(-1) ?? from
    // A click may have more versions than were read.
    versions = clicks.length === 0 ? 2 * versions : Math.min(2 * versions, versionsMax)
  }
  const page = toPage(found, plan.limit, (key) => key, plan.fingerprint)
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
