import { inRange, prewhere } from '../../query/conditions.ts'
import { attributesOf, filterConditions } from '../../query/filters.ts'
import type { Filter } from '../../query/filterTree.ts'
import { idsIndexHints } from '../../query/idsIndex.ts'
import { latestOf } from '../../query/latestVersions.ts'
import {
  byKey,
  type PageRows,
  readAtKeys,
  readNext,
  type Source,
  toPage,
  withoutRepetitions,
} from '../../query/list.ts'
import { type ListPlan, listSql, newestEndMs } from '../../query/listPlan.ts'
import { isAfter, type PageKey } from '../../query/pagination.ts'
import { type ReadContext, readLongRows, readRows } from '../../query/readContext.ts'
import {
  type ClickText,
  clickOfText,
  clickSerializer,
  clickTexts,
  type FoundClick,
  hasCounts,
  readClicks,
} from '../../rows/clicks.ts'
import type { RowContext } from '../../rows/nameCache.ts'
import { smallRead } from '../../stores/clickhouse/select.ts'
import { ch, count, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import { dayMs } from '../../stores/timing/units.ts'

export interface ClickPlan extends ListPlan {
  isBot: boolean | undefined
  isTest: boolean | undefined
  converted: boolean | undefined
}

/** A click with its key in the order of the list. */
type ListedClick = FoundClick & { key: PageKey }
type ClickSource = Source<PageKey, ListedClick>

/** Reads one page of clicks as JSON. All pages together contain each click that existed before the first page exactly once. */
export async function listClicks(context: RowContext, plan: ClickPlan): Promise<PageRows> {
  const next = await readNext(sourcesOf(context, plan), plan.after, plan.limit + 1)
  const toJson = await clickSerializer(context, plan, next.rows.slice(0, plan.limit))
  return toPage(next, plan, ({ key }) => key, toJson)
}

/** A page without filters is mostly found in two days; a filter by conversions collapses all conversions of a slice. */
const sliceDays = [2, 32]
/** A month is a partition, and each costs a few milliseconds: a page of a filter is usually found in the last two. */
const filteredSliceDays = [32]

function sourcesOf(context: ReadContext, plan: ClickPlan): ClickSource[] {
  if (plan.isOldestFirst) return [oldestFirst(context, plan)]
  if (plan.converted && hasOnlyConvertedFilters(plan)) return [newestConverted(context, plan)]
  const { range } = plan
  const endMs = newestEndMs(plan)
  const days = plan.converted === undefined && !hasMostClicks(plan) ? filteredSliceDays : sliceDays
  const bounds = days.map((ago) => Math.floor(endMs - ago * dayMs)).filter((ms) => ms > (range.fromMs ?? 0))
  const slices = [...bounds.map((fromMs) => ({ ...range, fromMs })), range]
  for (const [index, untilMs] of bounds.entries()) slices[index + 1] = { ...slices[index + 1], untilMs }
  return slices.map((slice) => newestOf(context, { ...plan, range: slice }))
}

/** The clicks of the range of a plan, newest first, with the numbers of their conversions. */
function newestOf(context: ReadContext, plan: ClickPlan): ClickSource {
  const settings = hasMostClicks(plan) ? smallRead : {}
  return async (after, missing) => {
    const clicks = newestSql(plan, after, missing)
    const versions = convertedVersionsSql(plan, after, countedMax)
    const [{ rows, isCut }, countOf] = await Promise.all([
      readLongRows<ClickText>(context, clicks, 'clicks.page', settings),
      hasCounts(plan.selected) ? readCounts(context, versions) : () => undefined,
    ])
    const found = withoutRepetitions(rows)
    const listed = found.map((row) => ({ ...clickOfText(row), key: row, conversionCount: countOf(row) }))
    return { rows: listed, next: rows.at(-1), isEnd: !isCut && rows.length < missing, isFull: isCut }
  }
}

/**
 * The next clicks, newest first, in the order of the primary key, so that every page costs the same. Repeated rows are adjacent;
 * the caller drops them.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, also of filtered ones (it puts its own filter there for
 * ORDER BY … LIMIT).
 * @param lastKey the last key that was read; undefined at the start
 * @returns rows `ClickText`
 */
export function newestSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  const keyConditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`clicked_at`, plan.range),
    isAfter(lastKey, ch`clicked_at`, ch`id`),
    ...conversionFilter(plan, lastKey),
  ]
  return ch`
SELECT ${clickTexts}
FROM clicks${prewhere(clickConditions(plan))}
WHERE ${join(keyConditions, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/** Versions that are read to count the conversions of a page: usually one click in a hundred converts, and a conversion has few versions. */
const countedMax = 200

/**
 * Counts the conversions of the newest clicks, at the same time as the page is read.
 * @param statement the first `countedMax` versions
 * @returns a function that returns the count of a click, or undefined for clicks beyond those that were read
 */
async function readCounts(context: ReadContext, statement: Fragment) {
  const { clicks, incomplete } = await readConverted(context, statement, countedMax)
  const counts = new Map(clicks.map(({ id, conversionCount }) => [id, conversionCount]))
  return (key: PageKey) => {
    const isCovered =
      !incomplete || key.atMs > incomplete.atMs || (key.atMs === incomplete.atMs && key.id > incomplete.id)
    return isCovered ? (counts.get(key.id) ?? 0) : undefined
  }
}

/** Most versions of conversions that are read at once: about a megabyte. */
const versionsMax = 10_000

/** The clicks with conversions, newest first. */
function newestConverted(context: ReadContext, plan: ClickPlan): ClickSource {
  let versions = 0
  return async (after, missing) => {
    versions ||= Math.ceil(1.5 * missing)
    const statement = convertedVersionsSql(plan, after, versions)
    const read = await readConverted(context, statement, versions)
    // A click may have more versions than were read.
    versions = read.clicks.length === 0 ? 2 * versions : Math.min(2 * versions, versionsMax)
    const converted = read.clicks.filter(({ conversionCount }) => conversionCount > 0)
    const keys = converted.slice(0, missing)
    const counts = new Map(keys.map(({ id, conversionCount }) => [id, conversionCount]))
    const { rows: clicks, next } = await readAtKeys(keys, missing, (some) => readClicks(context, plan, some))
    const rows = clicks.map((click) => ({ ...click, key: click, conversionCount: counts.get(click.id) }))
    if (next) return { rows, next, isEnd: false, isFull: true }
    const isCut = keys.length < converted.length
    return { rows, next: (isCut ? keys : read.clicks).at(-1) ?? after, isEnd: !isCut && !read.incomplete }
  }
}

/** The key of a click, with the number of its conversions that are no tests. */
type CountedKey = PageKey & { conversionCount: number }

/**
 * Reads the newest clicks that have versions of conversions, and counts their conversions. The latest versions are chosen here,
 * which costs less than FINAL for some hundred rows.
 * @param statement of `convertedVersionsSql`, with this limit
 * @returns clicks, newest first, also without conversions; `incomplete` is the last click that was read, whose versions may not
 *   all be read, undefined at the end
 */
async function readConverted(
  context: ReadContext,
  statement: Fragment,
  limit: number,
): Promise<{ clicks: CountedKey[]; incomplete: PageKey | undefined }> {
  const versions = await readRows<ConvertedVersion>(context, statement, 'clicks.conversions', smallRead)
  const clicks = new Map<string, CountedKey>()
  for (const { atMs, id, isDeleted, isTest } of latestOf(versions, (row) => `${row.id} ${row.conversionId}`)) {
    const click = clicks.get(id) ?? { atMs, id, conversionCount: 0 }
    if (!isDeleted && !isTest) click.conversionCount += 1
    clicks.set(id, click)
  }
  // Other versions of the last click may not be read.
  const incomplete = versions.length < limit ? undefined : [...clicks.values()].at(-1)
  if (incomplete) clicks.delete(incomplete.id)
  return { clicks: [...clicks.values()], incomplete }
}

export type ConvertedVersion = PageKey & { conversionId: string; version: number; isDeleted: boolean; isTest: boolean }

/**
 * The next versions of conversions, in the order of the clicks of the list.
 * @param limit of versions
 * @returns rows `ConvertedVersion`
 */
function convertedVersionsSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, conversion_id AS conversionId, version,
  is_deleted = 1 AS isDeleted, is_test AS isTest
FROM converted_clicks
WHERE ${join(convertedClickConditions(plan, lastKey), '\n  AND ')}
ORDER BY clicked_at DESC, click_id DESC
LIMIT ${count(limit)}`
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
      if (!clicks) return undefined
      const clickById = new Map(clicks.map((click) => [click.id, click]))
      return keys.flatMap((key) => {
        const click = clickById.get(key.id)
        return click ? [{ ...click, key }] : []
      })
    },
  })
}

/**
 * The keys of the next rows of clicks in ascending order of `clicked_at`, or of `stored_at` with `updated_since` or `updated_after`.
 * Copies of a row that are not merged yet follow each other. `LIMIT BY` would remove the copies, but each page would read a block of
 * every part.
 * @param limit of rows, copies included
 * @returns rows `atMs`, `id`: the key in this order; `clickedMs`, `id`: the sort key of the table
 */
export function oldestFirstSql(plan: ClickPlan, limit: number): Fragment {
  const { at, conditions } = orderedSql(plan)
  return ch`
SELECT toUnixTimestamp64Milli(${at}) AS atMs, id, toUnixTimestamp64Milli(clicked_at) AS clickedMs
FROM clicks
WHERE ${join(conditions, '\n  AND ')}
ORDER BY ${at}, id
LIMIT ${count(limit)}`
}

/** The order of the list in SQL, and all conditions of its clicks. */
export function orderedSql(plan: ClickPlan) {
  const list = listSql(plan, ch`clicked_at`)
  const conditions = [
    ...list.conditions,
    isAfter(plan.after, list.at, ch`id`, plan.isOldestFirst),
    ...clickConditions(plan),
    ...conversionFilter(plan, undefined),
  ]
  return { ...list, conditions }
}

function clickConditions({ filters, isBot, isTest }: ClickPlan): Fragment[] {
  return [
    ...(isBot === undefined ? [] : [isBot ? ch`is_bot` : ch`NOT is_bot`]),
    ...(isTest === undefined ? [] : [isTest ? ch`is_test` : ch`NOT is_test`]),
    ...filterConditions(filters, 'clicks'),
    ...idsIndexHints(filters),
  ]
}

/** The condition of the parameter `converted`, if it is present: on the clicks of the range after a key. */
function conversionFilter(plan: ClickPlan, lastKey: PageKey | undefined): Fragment[] {
  if (plan.converted === undefined) return []
  const conditions = [...convertedClickConditions(plan, lastKey), ch`NOT is_test`]
  const converted = ch`SELECT clicked_at, click_id FROM converted_clicks FINAL WHERE ${join(conditions, '\n  AND ')}`
  return [ch`(clicked_at, id) ${plan.converted ? ch`IN` : ch`NOT IN`} (${converted})`]
}

/** Conditions on `converted_clicks` that the next clicks fulfil, and maybe other clicks: it lacks most columns. */
function convertedClickConditions({ accountId, filters, range }: ClickPlan, lastKey: PageKey | undefined): Fragment[] {
  return [
    ch`account_id = ${text(accountId)}`,
    ...inRange(ch`clicked_at`, range),
    isAfter(lastKey, ch`clicked_at`, ch`click_id`),
    ...filterConditions(filters.filter(isOfConvertedClicks), 'clicks'),
  ]
}

const isOfConvertedClicks = (filter: Filter): boolean =>
  attributesOf([filter]).every((attribute) => attribute === 'campaign' || attribute === 'offer')

/** Whether `converted_clicks` has columns for all filters. */
function hasOnlyConvertedFilters({ filters, isBot, isTest }: ClickPlan): boolean {
  return filters.every(isOfConvertedClicks) && isBot === undefined && isTest === undefined
}

/** Whether the list usually has most of the clicks of its range. */
function hasMostClicks({ filters, isBot, isTest, converted: isConverted }: ClickPlan): boolean {
  return filters.length === 0 && !isBot && !isTest && !isConverted
}
