import type { RouteContext } from '../../http/context.ts'
import { textAgeMs } from '../../query/clickText.ts'
import type { PageKey } from '../../query/pagination.ts'
import type { Range } from '../../query/timeRange.ts'
import {
  type ClickText,
  clickOfColumns,
  clickOfText,
  clickTexts,
  type FoundClick,
  readNewestCounts,
  type StoredClick,
  selectedClickColumns,
} from '../../rows/clicks.ts'
import { selectRows, smallRead } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { ClickPlan } from './plan.ts'
import { convertedPageConditions, hasMostClicks, newestSql } from './sql.ts'

/** The key of a click; the click and the number of its conversions if they were read with it. */
export type FoundKey = PageKey & { click?: FoundClick | undefined; conversionCount?: number | undefined }

/** Days of the first slice: two are read as fast as one, and more often have the whole page of a filter. */
const firstDays = 2

/**
 * Finds the next `limit + 1` clicks, newest first: in the last two days, then in as much time as the missing ones should need,
 * then in 32 days, then in the rest of the range. Repeated rows are dropped, and as many more are read.
 */
export async function findNewest(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<FoundKey[]> {
  const { after, range, nowMs, limit } = plan
  const found: FoundKey[] = []
  let lastKey = after
  let unread = range
  let endMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  for (let days = firstDays; ; ) {
    const sinceMs = Math.floor(endMs - days * dayMs)
    const isLast = sinceMs <= (range.fromMs ?? 0)
    const slice = isLast ? unread : { ...unread, fromMs: sinceMs }
    const reads = readsOf(plan, slice, days)
    const before = found.length
    let isRead = false
    while (!isRead) {
      const missing = limit + 1 - found.length
      const rows = await readTimeSlice(context, plan, slice, reads, lastKey, missing, signal)
      for (const row of rows) {
        if (row.id === lastKey?.id && row.atMs === lastKey.atMs) continue
        found.push(row)
        lastKey = row
      }
      if (found.length > limit) return found
      isRead = rows.length < missing
    }
    if (isLast) return found
    endMs = sinceMs
    unread = { ...range, untilMs: sinceMs }
    days = nextDays(days, found.length - before, limit + 1 - found.length)
  }
}

/**
 * Days of the next slice. Each month in it costs a few milliseconds, since it is a partition; each part also reads its last rows.
 * @param days of the last slice, in which `found` rows were found
 */
function nextDays(days: number, found: number, missing: number): number {
  if (days >= 32) return Number.POSITIVE_INFINITY
  return days === firstDays && found > 0 ? Math.min(32, (2 * firstDays * missing) / found) : 32
}

/**
 * What is read with the keys. `text`: one column has the values of a row. `columns`: all columns, where most rows of the range
 * are listed and their texts are probably emptied. `keys`: nothing else, since in many months every column would be read in the parts of each.
 */
type Reads = 'text' | 'columns' | 'keys'

function readsOf(plan: ClickPlan, { fromMs = Number.NEGATIVE_INFINITY }: Partial<Range>, days: number): Reads {
  if (fromMs >= plan.nowMs - textAgeMs) return 'text'
  return days <= firstDays && hasMostClicks(plan) ? 'columns' : 'keys'
}

const label = 'clicks.page'

/** A page with most rows of its range is not read twice, first its keys and then its other columns. */
const denseSettings = { query_plan_optimize_lazy_materialization: 0 } as const

async function readTimeSlice(
  { stores: { clickhouse } }: RouteContext,
  plan: ClickPlan,
  range: Partial<Range>,
  reads: Reads,
  lastKey: PageKey | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<FoundKey[]> {
  const sql = newestSql(plan, lastKey, range, limit)
  if (reads === 'keys') {
    return selectRows<PageKey>(clickhouse, sql(ch`toUnixTimestamp64Milli(clicked_at) AS atMs, id`), { label, signal })
  }
  const counts = readNewestCounts(clickhouse, plan.accountId, convertedPageConditions(plan, lastKey, range), signal)
  const [clicks, countOf] = await Promise.all([reads === 'text' ? readTexts() : readColumns(), counts])
  return clicks.map((key) => ({ ...key, conversionCount: countOf(key) }))

  async function readTexts(): Promise<FoundKey[]> {
    const settings = hasMostClicks(plan) ? { ...smallRead, ...denseSettings } : {}
    const rows = await selectRows<ClickText>(clickhouse, sql(clickTexts), { label, signal, settings })
    return rows.map((row) => ({ atMs: row.atMs, id: row.id, click: clickOfText(row) }))
  }
  async function readColumns(): Promise<FoundKey[]> {
    const options = { label, signal, settings: denseSettings }
    const rows = await selectRows<StoredClick>(clickhouse, sql(selectedClickColumns), options)
    return rows.map((row) => ({ atMs: row.clickedAt, id: row.id, click: clickOfColumns(row) }))
  }
}
