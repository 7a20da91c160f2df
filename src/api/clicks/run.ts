import type { RouteContext } from '../../http/context.ts'
import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { withoutRepetitions } from '../../query/readPage.ts'
import {
  type FoundClick,
  readClicks,
  readConversionCounts,
  readFoundClicks,
  readNewestConverted,
  writeClicks,
} from '../../rows/clicks.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { findNewest } from './newest.ts'
import type { ClickPlan } from './plan.ts'
import { convertedPageConditions, hasOnlyConvertedFilters, oldestFirstSql } from './sql.ts'

/**
 * Reads one page of clicks as JSON. All pages together contain each click that existed before the first page exactly once.
 * @throws Problem `unavailable`, `query_timeout`
 */
export function listClicks(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<PageRows<string>> {
  if (plan.isOldestFirst) return listOldestFirst(context, plan, signal)
  return plan.converted && hasOnlyConvertedFilters(plan)
    ? listConverted(context, plan, signal)
    : listNewestFirst(context, plan, signal)
}

/** Conversions that were not counted beside the rows are counted at the end, by key. */
async function listNewestFirst(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<PageRows<string>> {
  const { clickhouse } = context.stores
  const page = toPage(await findNewest(context, plan, signal), plan.limit, (key) => key, plan.boundTo)
  const uncounted = page.data.filter(({ conversionCount }) => conversionCount === undefined)
  const counts = await readConversionCounts(clickhouse, plan.accountId, uncounted, signal)
  for (const { id, conversionCount } of page.data) if (conversionCount) counts.set(id, conversionCount)
  const clicks = page.data.map(({ click }) => click)
  return { ...page, data: await writeClicks(context, plan, clicks, counts) }
}

/** Most versions of conversions that are read at once: about a megabyte. */
const versionsMax = 10_000

async function listConverted(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<PageRows<string>> {
  const { clickhouse } = context.stores
  const limit = plan.limit + 1
  const found: FoundClick[] = []
  const counts = new Map<string, number>()
  let lastKey = plan.after
  for (let versions = Math.ceil(1.5 * limit); found.length < limit; ) {
    const conditions = convertedPageConditions(plan, lastKey, plan.range)
    const { clicks, incomplete } = await readNewestConverted(clickhouse, plan.accountId, conditions, versions, signal)
    const converted = clicks.filter(({ conversionCount }) => conversionCount > 0)
    const next = converted.slice(0, limit - found.length)
    for (const { id, conversionCount } of next) counts.set(id, conversionCount)
    found.push(...(await readFoundClicks(clickhouse, plan, next, signal)))
    const isCut = next.length < converted.length
    if (!incomplete && !isCut) break
    lastKey = (isCut ? next : clicks).at(-1) ?? lastKey
    // A click may have more versions than were read.
    versions = clicks.length === 0 ? 2 * versions : Math.min(2 * versions, versionsMax)
  }
  const page = toPage(found, plan.limit, (key) => key, plan.boundTo)
  return { ...page, data: await writeClicks(context, plan, page.data, counts) }
}

/** A key in ascending order, and the time of the click. */
type OldestKey = PageKey & { clickedMs: number }

/** Reads one page in ascending order of `clickedAt`, or of `storedAt` with `updated_since` or `updated_after`. */
async function listOldestFirst(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<PageRows<string>> {
  const { clickhouse } = context.stores
  const limit = plan.limit + 1
  let keys: OldestKey[] = []
  for (let rowsMax = Math.ceil(1.5 * limit), isCut = true; isCut && keys.length < limit; rowsMax *= 2) {
    const rows = await selectRows<OldestKey>(clickhouse, oldestFirstSql(plan, rowsMax), {
      label: 'clicks.list',
      signal,
    })
    keys = withoutRepetitions(rows)
    isCut = rows.length === rowsMax
  }
  const page = toPage(keys, plan.limit, (key) => key, plan.boundTo)
  const sortKeys = page.data.map(({ id, clickedMs }) => ({ id, atMs: clickedMs }))
  return { ...page, data: await readClicks(context, plan, sortKeys, signal) }
}
