import type { RouteContext } from '../../http/context.ts'
import type { PageKey } from '../../query/pagination.ts'
import { newestSlices, readPage, withoutRepetitions } from '../../query/readPage.ts'
import { type ClickText, clickOfText, clickTexts, type FoundClick, readNewestCounts } from '../../rows/clicks.ts'
import { selectRows, smallRead } from '../../stores/clickhouse/select.ts'
import type { ClickPlan } from './plan.ts'
import { convertedPageConditions, hasMostClicks, newestSql } from './sql.ts'

/** A click with its key, and the number of its conversions if it was read with it. */
export type FoundKey = PageKey & { click: FoundClick; conversionCount: number | undefined }

/** A month is a partition, and each costs a few milliseconds: a page is usually found in the last two. */
const firstDays = 32

/** Finds the next `limit + 1` clicks, newest first: in the last 32 days, then in the rest of the range. */
export async function findNewest(context: RouteContext, plan: ClickPlan, signal: AbortSignal): Promise<FoundKey[]> {
  const { accountId, after, range, nowMs, limit } = plan
  const { clickhouse } = context.stores
  const endMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const options = { label: 'clicks.page', signal, settings: hasMostClicks(plan) ? smallRead : {} }
  const sources = newestSlices(range, endMs, [firstDays]).map((slice) => {
    return async (lastKey: PageKey | undefined, missing: number) => {
      const [rows, countOf] = await Promise.all([
        selectRows<ClickText>(clickhouse, newestSql(plan, lastKey, slice, missing)(clickTexts), options),
        readNewestCounts(clickhouse, accountId, convertedPageConditions(plan, lastKey, slice), signal),
      ])
      const found = withoutRepetitions(rows).map((row) => ({
        ...{ atMs: row.atMs, id: row.id, click: clickOfText(row), conversionCount: countOf(row) },
      }))
      return { rows: found, next: rows.length < missing ? undefined : found.at(-1) }
    }
  })
  return await readPage(sources, after, limit + 1)
}
