import type { RouteContext } from '../../http/context.ts'
import type { PageKey } from '../../query/pagination.ts'
import type { StoredClick } from '../../rows/clicks.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { isDense, type NewestSql, newestSql } from './sql.ts'

/** The key of a click, and its row if that was read with it. */
export type FoundClick = PageKey & { row?: StoredClick }

/**
 * Finds the next `limit + 1` clicks, newest first: in the last day, then in 32 days, then in the whole range. Repeated rows
 * are dropped, and as many more are read. If the list has most clicks of the last day, it reads them with their rows, by one
 * query instead of two; further back only keys, since every column would be read in the parts of each month.
 */
export async function findNewest(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<FoundClick[]> {
  const found: FoundClick[] = []
  let from = plan.after
  for (const { sinceMs, isDay } of slicesOf(plan)) {
    const read = isDay && isDense(plan) ? readRows : readKeys
    let isRead = false
    while (!isRead) {
      const missing = plan.limit + 1 - found.length
      const rows = await read(context, newestSql(plan, from, sinceMs, missing), signal)
      for (const row of rows) {
        if (row.id === from?.id && row.atMs === from.atMs) continue
        found.push(row)
        from = row
      }
      if (found.length > plan.limit) return found
      isRead = rows.length < missing
    }
  }
  return found
}

const label = 'clicks.page'

/** A page with most rows of its range is not read twice, first its keys and then its other columns. */
const rowsSettings = { query_plan_optimize_lazy_materialization: 0 } as const

function readKeys({ stores }: RouteContext, { keys }: NewestSql, signal: AbortSignal): Promise<FoundClick[]> {
  return selectRows<PageKey>(stores.clickhouse, keys, { label, signal })
}

async function readRows({ stores }: RouteContext, { rows }: NewestSql, signal: AbortSignal): Promise<FoundClick[]> {
  const stored = await selectRows<StoredClick>(stores.clickhouse, rows, { label, signal, settings: rowsSettings })
  return stored.map((row) => ({ atMs: row.clickedAt, id: row.id, row }))
}

const dayMs = 86_400_000

/** Time slices, latest first. */
function slicesOf({ after, range, nowMs }: ClickPlan): { sinceMs: number | undefined; isDay: boolean }[] {
  const newestMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const recentStarts = [1, 32].map((days) => newestMs - days * dayMs)
  return [...recentStarts.filter((sinceMs) => sinceMs > (range.fromMs ?? 0)), range.fromMs].map((sinceMs) => ({
    sinceMs,
    isDay: sinceMs !== undefined && newestMs - sinceMs <= dayMs,
  }))
}
