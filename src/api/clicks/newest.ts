import type { RouteContext } from '../../http/context.ts'
import type { PageKey } from '../../query/pagination.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { clickKeysSql } from './sql.ts'

/**
 * Finds the keys of the next `limit + 1` clicks, newest first: in the last day, then in 32 days, then in the whole range.
 * Repeated rows are dropped, and as many more are read.
 */
export async function findNewestKeys(
  { stores }: RouteContext,
  plan: ClickPlan,
  signal: AbortSignal,
): Promise<PageKey[]> {
  const keys: PageKey[] = []
  let from = plan.after
  for (const sinceMs of sliceStarts(plan)) {
    let isRead = false
    while (!isRead) {
      const missing = plan.limit + 1 - keys.length
      const rows = await selectRows<PageKey>(stores.clickhouse, clickKeysSql(plan, from, sinceMs, missing), {
        label: 'clicks.page',
        signal,
      })
      for (const row of rows) {
        if (row.id === from?.id && row.atMs === from.atMs) continue
        keys.push(row)
        from = row
      }
      if (keys.length > plan.limit) return keys
      isRead = rows.length < missing
    }
  }
  return keys
}

const dayMs = 86_400_000

/** Starts of the time slices, latest first; undefined is an open start. */
function sliceStarts({ after, range, nowMs }: ClickPlan): (number | undefined)[] {
  const newestMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const recentStarts = [1, 32].map((days) => newestMs - days * dayMs)
  return [...recentStarts.filter((sinceMs) => sinceMs > (range.fromMs ?? 0)), range.fromMs]
}
