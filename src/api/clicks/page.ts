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
import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'

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
/** A month is a partition, and each costs milliseconds: a page of a filter is usually found in the months of the last two weeks. */
const filteredDays = 14

function sourcesOf(context: ReadContext, plan: ClickPlan): ClickSource[] {
  if (plan.isOldestFirst) return [oldestFirst(context, plan)]
  const { range, filters, isBot, isTest } = plan
  // `converted_clicks` has no columns for bots and tests.
  const isOfConversions = plan.converted && isBot === undefined && isTest === undefined
  if (isOfConversions && filters.every(isOfConvertedClicks)) return [newestConverted(context, plan)]
  const endMs = newestEndMs(plan)
  const isFiltered = plan.converted === undefined && !hasMostClicks(plan)
  const daysAgo = (days: number) => Math.floor(endMs - days * dayMs)
  const starts = isFiltered ? [startOfUtcMonth(daysAgo(filteredDays))] : sliceDays.map(daysAgo)
  const bounds = starts.filter((ms) => ms > (range.fromMs ?? 0))
  const slices = [...bounds.map((fromMs) => ({ ...range, fromMs })), range]
  for (const [index, untilMs] of bounds.entries()) slices[index + 1] = { ...slices[index + 1], untilMs }
  return slices.map((slice) => newestOf(context, { ...plan, range: slice }))
}

/** Versions that are read to count the conversions of a page: usually one click in a hundred converts, and a conversion has few versions. */
const countedMax = 200

/**
 * The clicks of the range of a plan, newest first, with the numbers of their conversions: one statement reads both, since each statement
 * takes milliseconds. Clicks beyond the versions that were read have no number yet.
 */
function newestOf(context: ReadContext, plan: ClickPlan): ClickSource {
  const settings = hasMostClicks(plan) ? smallRead : {}
  return async (after, missing) => {
    const clicks = newestSql(plan, after, missing)
    const versions = convertedVersionsSql(plan, after, countedMax)
    const query = hasCounts(plan.selected) ? ch`(${clicks})\nUNION ALL\n(${versions})` : clicks
    const { rows, isCut } = await readLongRows<ListedText>(context, query, 'clicks.page', settings)
    const countOf = isCut ? () => undefined : countsOf(rows.filter(({ version }) => version !== ''))
    const found = rows.filter(({ version }) => version === '')
    const unique = withoutRepetitions(found)
    const listed = unique.map((row) => ({ ...clickOfText(row), key: row, conversionCount: countOf(row) }))
    return { rows: listed, next: found.at(-1), isEnd: !isCut && found.length < missing, isFull: isCut }
  }
}

/**
 * The next clicks, newest first, in the order of the primary key, so that every page costs the same. Repeated rows are adjacent;
 * the caller drops them.
 * TRAP: without PREWHERE ClickHouse 26.7 reads the id of every row, also of filtered ones (it puts its own filter there for
 * ORDER BY … LIMIT).
 * @param lastKey the last key that was read; undefined at the start
 * @returns rows `ListedText`, without a version
 */
export function newestSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  const keyConditions = [
    ch`account_id = ${text(plan.accountId)}`,
    ...inRange(ch`clicked_at`, plan.range),
    isAfter(lastKey, ch`clicked_at`, ch`id`),
    ...conversionFilter(plan, lastKey),
  ]
  return ch`
SELECT ${clickTexts}, '' AS version
FROM clicks${prewhere(clickConditions(plan))}
WHERE ${join(keyConditions, '\n  AND ')}
ORDER BY clicked_at DESC, id DESC
LIMIT ${count(limit)}`
}

/**
 * Counts the conversions of the newest clicks.
 * @param versions the first `countedMax` versions
 * @returns a function that returns the count of a click, or undefined for clicks beyond those versions
 */
function countsOf(versions: readonly ListedText[]) {
  const { clicks, incomplete: last } = convertedOf(versions, countedMax)
  const counts = new Map(clicks.map(({ id, conversionCount }) => [id, conversionCount]))
  return (key: PageKey) => {
    const isCovered = !last || key.atMs > last.atMs || (key.atMs === last.atMs && key.id > last.id)
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
    const found = await readRows<ListedText>(context, statement, 'clicks.conversions', smallRead)
    const read = convertedOf(found, versions)
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

/**
 * Counts the conversions of the newest clicks that have versions of conversions. The latest versions are chosen here, which costs less
 * than FINAL for some hundred rows.
 * @param limit of the versions that were read
 * @returns clicks, newest first, also without conversions; `incomplete` is the last click that was read, whose versions may not
 *   all be read, undefined at the end
 */
function convertedOf(versions: readonly ListedText[], limit: number) {
  const clicks = new Map<string, PageKey & { conversionCount: number }>()
  const parsed = versions.map(({ atMs, id, version: joined }) => {
    const [conversionId, version, isCounted] = joined.split('\0')
    return { atMs, id, conversionId, version: Number(version), isCounted: isCounted === 'counted' }
  })
  for (const { atMs, id, isCounted } of latestOf(parsed, (row) => `${row.id} ${row.conversionId}`)) {
    const click = clicks.get(id) ?? { atMs, id, conversionCount: 0 }
    if (isCounted) click.conversionCount += 1
    clicks.set(id, click)
  }
  // Other versions of the last click may not be read.
  const incomplete = versions.length < limit ? undefined : [...clicks.values()].at(-1)
  if (incomplete) clicks.delete(incomplete.id)
  return { clicks: [...clicks.values()], incomplete }
}

/** A click has an empty `version`. A version of a conversion has, separated by NUL: id of the conversion, version, `counted` or nothing. */
type ListedText = ClickText & { version: string }

/**
 * The next versions of conversions, in the order of the clicks of the list.
 * @param limit of versions
 * @returns rows `ListedText`
 */
function convertedVersionsSql(plan: ClickPlan, lastKey: PageKey | undefined, limit: number): Fragment {
  return ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, '' AS pageText,
  concatWithSeparator('\\0', conversion_id, toString(version), if(is_deleted = 1 OR is_test, '', 'counted')) AS version
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

/** Whether the list usually has most of the clicks of its range. */
function hasMostClicks({ filters, isBot, isTest, converted: isConverted }: ClickPlan): boolean {
  return filters.length === 0 && !isBot && !isTest && !isConverted
}
