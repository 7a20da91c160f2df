import type { RouteContext } from '../../http/context.ts'
import { textAgeMs } from '../../query/clickText.ts'
import type { PageKey } from '../../query/pagination.ts'
import {
  type ClickText,
  clickColumns,
  clickOfColumns,
  clickOfText,
  clickTexts,
  type FoundClick,
  type StoredClick,
} from '../../rows/clicks.ts'
import { selectRows, smallRead } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import type { ClickPlan } from './plan.ts'
import { isDense, newestSql } from './sql.ts'

/** The key of a click, and the click if it was read with it. */
export type FoundKey = PageKey & { click?: FoundClick | undefined }

/**
 * Finds the next `limit + 1` clicks, newest first: in the last day, then in 32 days, then in the whole range. Repeated rows
 * are dropped, and as many more are read.
 */
export async function findNewest(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<FoundKey[]> {
  const found: FoundKey[] = []
  let from = plan.after
  for (const slice of slicesOf(plan)) {
    let isRead = false
    while (!isRead) {
      const missing = plan.limit + 1 - found.length
      const rows = await readSlice(context, plan, slice, from, missing, signal)
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

/** A time slice of a list. */
interface Slice {
  sinceMs: number | undefined
  /**
   * What is read with the keys. `text`: one column has the values of a row. `columns`: all columns, where most rows of the range
   * are listed and their texts are probably emptied. `nothing`: in many months every column would be read in the parts of each.
   */
  reads: 'text' | 'columns' | 'nothing'
}

const dayMs = 86_400_000

/** Time slices, latest first. */
function slicesOf(plan: ClickPlan): Slice[] {
  const { after, range, nowMs } = plan
  const newestMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const recentStarts = [1, 32].map((days) => newestMs - days * dayMs)
  return [...recentStarts.filter((sinceMs) => sinceMs > (range.fromMs ?? 0)), range.fromMs].map((sinceMs) => ({
    sinceMs,
    reads: readsOf(sinceMs),
  }))

  function readsOf(sinceMs: number | undefined): Slice['reads'] {
    if (sinceMs !== undefined && sinceMs >= nowMs - textAgeMs) return 'text'
    const isDay = sinceMs !== undefined && newestMs - sinceMs <= dayMs
    return isDay && isDense(plan) ? 'columns' : 'nothing'
  }
}

const label = 'clicks.page'

/** A page with most rows of its range is not read twice, first its keys and then its other columns. */
const denseSettings = { query_plan_optimize_lazy_materialization: 0 } as const

async function readSlice(
  { stores: { clickhouse } }: RouteContext,
  plan: ClickPlan,
  { sinceMs, reads }: Slice,
  from: PageKey | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<FoundKey[]> {
  const sql = newestSql(plan, from, sinceMs, limit)
  if (reads === 'text') {
    const settings = isDense(plan) ? { ...smallRead, ...denseSettings } : {}
    const rows = await selectRows<ClickText>(clickhouse, sql(clickTexts), { label, signal, settings })
    return rows.map((row) => ({ atMs: row.atMs, id: row.id, click: clickOfText(row) }))
  }
  if (reads === 'columns') {
    const rows = await selectRows<StoredClick>(clickhouse, sql(clickColumns), {
      label,
      signal,
      settings: denseSettings,
    })
    return rows.map((row) => ({ atMs: row.clickedAt, id: row.id, click: clickOfColumns(row) }))
  }
  return selectRows<PageKey>(clickhouse, sql(ch`toUnixTimestamp64Milli(clicked_at) AS atMs, id`), { label, signal })
}
