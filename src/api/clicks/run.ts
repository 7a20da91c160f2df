import { type PageKey, type PageRows, toPage } from '../../query/pagination.ts'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { byKey, readPage, type Source, withoutRepetitions } from '../../query/readPage.ts'
import {
  type ClickText,
  clickOfText,
  type FoundClick,
  hasCounts,
  readClicks,
  readNewestConverted,
  readNewestCounts,
  writeClicks,
} from '../../rows/clicks.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { smallRead } from '../../stores/clickhouse/select.ts'
import { dayMs } from '../../stores/timing/units.ts'
import type { ClickPlan } from './plan.ts'
import { convertedPageConditions, hasMostClicks, hasOnlyConvertedFilters, newestSql, oldestFirstSql } from './sql.ts'

/** A click with its key in the order of the list. */
type ListedClick = { key: PageKey; click: FoundClick }
type ClickSource = Source<PageKey, ListedClick>

/** Reads one page of clicks as JSON. All pages together contain each click that existed before the first page exactly once. */
export async function listClicks(context: RowContext, plan: ClickPlan): Promise<PageRows<string>> {
  const { after, limit, boundTo } = plan
  const listed = await readPage(sourcesOf(context, plan), after, limit + 1)
  const page = toPage(listed, limit, ({ key }) => key, boundTo)
  const clicks = page.data.map(({ click }) => click)
  return { ...page, data: await writeClicks(context, plan, clicks) }
}

/** A month is a partition, and each costs a few milliseconds: a page is usually found in the last two. */
const sliceDays = [32]
/** A filter by conversions collapses all conversions of a slice. */
const convertedSliceDays = [2, 32]

function sourcesOf(context: ReadContext, plan: ClickPlan): ClickSource[] {
  if (plan.isOldestFirst) return [oldestFirst(context, plan)]
  if (plan.converted && hasOnlyConvertedFilters(plan)) return [newestConverted(context, plan)]
  const { after, range, nowMs } = plan
  const endMs = after?.atMs ?? Math.min(range.untilMs ?? nowMs, nowMs)
  const days = plan.converted === undefined ? sliceDays : convertedSliceDays
  const bounds = days.map((ago) => Math.floor(endMs - ago * dayMs)).filter((ms) => ms > (range.fromMs ?? 0))
  const slices = [...bounds.map((fromMs) => ({ ...range, fromMs })), range]
  for (const [index, untilMs] of bounds.entries()) slices[index + 1] = { ...slices[index + 1], untilMs }
  return slices.map((slice) => newestOf(context, { ...plan, range: slice }))
}

/** The clicks of a range, newest first, with the numbers of their conversions. */
function newestOf(context: ReadContext, plan: ClickPlan): ClickSource {
  const { accountId, range, selected } = plan
  const settings = hasMostClicks(plan) ? smallRead : {}
  return async (after, missing) => {
    const [rows, countOf] = await Promise.all([
      readRows<ClickText>(context, newestSql(plan, after, range, missing), 'clicks.page', settings),
      hasCounts(selected)
        ? readNewestCounts(context, accountId, convertedPageConditions(plan, after, range))
        : () => undefined,
    ])
    const found = withoutRepetitions(rows).map((row) => {
      return { key: row, click: { ...clickOfText(row), conversionCount: countOf(row) } }
    })
    return { rows: found, next: rows.at(-1), isEnd: rows.length < missing }
  }
}

/** Most versions of conversions that are read at once: about a megabyte. */
const versionsMax = 10_000

/** The clicks with conversions, newest first. */
function newestConverted(context: ReadContext, plan: ClickPlan): ClickSource {
  let versions = 0
  return async (after, missing) => {
    versions ||= Math.ceil(1.5 * missing)
    const conditions = convertedPageConditions(plan, after, plan.range)
    const read = await readNewestConverted(context, plan.accountId, conditions, versions)
    // A click may have more versions than were read.
    versions = read.clicks.length === 0 ? 2 * versions : Math.min(2 * versions, versionsMax)
    const converted = read.clicks.filter(({ conversionCount }) => conversionCount > 0)
    const keys = converted.slice(0, missing)
    const counts = new Map(keys.map(({ id, conversionCount }) => [id, conversionCount]))
    const clicks = await readClicks(context, plan, keys)
    const rows = clicks.map((click) => ({ key: click, click: { ...click, conversionCount: counts.get(click.id) } }))
    const isCut = keys.length < converted.length
    return { rows, next: (isCut ? keys : read.clicks).at(-1) ?? after, isEnd: !isCut && !read.incomplete }
  }
}

/** A key in ascending order, and the time of the click. */
type OldestKey = PageKey & { clickedMs: number }

/** The clicks in ascending order of `clickedAt`, or of `storedAt` with `updated_since` or `updated_after`. */
function oldestFirst(context: ReadContext, plan: ClickPlan): ClickSource {
  return byKey<PageKey & { clickedMs?: number }, ListedClick>({
    keysPerRow: 1.5,
    keys: (after, limit) => readRows<OldestKey>(context, oldestFirstSql({ ...plan, after }, limit), 'clicks.list'),
    async rows(keys) {
      const sortKeys = keys.map(({ id, atMs, clickedMs = atMs }) => ({ id, atMs: clickedMs }))
      const clicks = await readClicks(context, plan, sortKeys)
      const clickById = new Map(clicks.map((click) => [click.id, click]))
      return keys.flatMap((key) => {
        const click = clickById.get(key.id)
        return click ? [{ key, click }] : []
      })
    },
  })
}
