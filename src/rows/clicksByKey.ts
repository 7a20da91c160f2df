import { textAgeMs } from '../query/clickText.ts'
import type { PageKey } from '../query/pagination.ts'
import { type QueryTarget, selectRows, smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, identifier, instantKeys, join, text } from '../stores/clickhouse/sql.ts'
import {
  type ClickText,
  clickColumns,
  clickOfColumns,
  clickOfText,
  clickTexts,
  type FoundClick,
  type StoredClick,
} from './clicks.ts'
import { readEntityNames } from './entityNames.ts'
import type { NameCache } from './nameCache.ts'

/** Which clicks to read. */
export interface ClickQuery {
  accountId: string
  /** Currency of the account. */
  baseCurrency: string
  /** Whether most of the clicks have conversions. */
  converted?: boolean | undefined
  nowMs: number
}

/** What reads of clicks need. */
interface ClickContext {
  stores: { clickhouse: QueryTarget }
  nameCache: NameCache
}

/** A click of a response as JSON, with its key. */
export interface ListedClick extends PageKey {
  json: string
  conversionCount: number
}

/**
 * Reads the clicks at these keys, in their order, with their conversion counts and the names of their entities.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readClicks(
  context: ClickContext,
  query: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<ListedClick[]> {
  if (keys.length === 0) return []
  const [clicks, counts] = await Promise.all([
    readFoundClicks(context.stores.clickhouse, query, keys, signal),
    readConversionCounts(context.stores.clickhouse, query.accountId, keys, signal),
  ])
  return writeClicks(context, query, clicks, counts)
}

/** Adds conversion counts and the names of entities to clicks. @throws Problem `unavailable` */
export async function writeClicks(
  { nameCache }: Pick<ClickContext, 'nameCache'>,
  { accountId, baseCurrency }: Pick<ClickQuery, 'accountId' | 'baseCurrency'>,
  clicks: readonly FoundClick[],
  counts: ConversionCounts,
): Promise<ListedClick[]> {
  const ids = clicks.map(({ entityIds }) => entityIds)
  const entitiesOf = await readEntityNames(nameCache, accountId, ids)
  return clicks.map((click) => {
    const conversionCount = counts.get(textOf(click)) ?? 0
    const json = click.toJson({ entities: entitiesOf(click.entityIds), baseCurrency, conversionCount })
    return { atMs: click.atMs, id: click.id, json, conversionCount }
  })
}

/**
 * Reads the clicks at these keys, in their order, without those that were removed; converted clicks from their copies,
 * which are close together on disk.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readFoundClicks(
  clickhouse: QueryTarget,
  { accountId, converted, nowMs }: ClickQuery,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<FoundClick[]> {
  const clickById = new Map<string, FoundClick>()
  const options = { label: 'clicks.rows', signal }
  for (const table of converted ? (['converted_click_rows', 'clicks'] as const) : (['clicks'] as const)) {
    const recent = missingOf(keys).filter(({ atMs }) => atMs >= nowMs - textAgeMs)
    if (recent.length > 0) {
      const texts = await selectRows<ClickText>(clickhouse, atKeys(clickTexts, table, accountId, recent), options)
      for (const row of texts) add(clickOfText(row))
    }
    const missing = missingOf(keys)
    if (missing.length > 0) {
      const rows = await selectRows<StoredClick>(clickhouse, atKeys(clickColumns, table, accountId, missing), options)
      for (const row of rows) add(clickOfColumns(row))
    }
  }
  return keys.flatMap(({ id }) => clickById.get(id) ?? [])

  function missingOf(some: readonly PageKey[]): PageKey[] {
    return some.filter(({ id }) => !clickById.has(id))
  }
  function add(click: FoundClick | undefined): void {
    if (click) clickById.set(click.id, click)
  }
}

/**
 * The clicks of a page by their sort keys, unordered.
 * @param table `converted_click_rows` has copies of most clicks with conversions
 */
function atKeys(
  columns: Fragment,
  table: 'clicks' | 'converted_click_rows',
  accountId: string,
  keys: readonly PageKey[],
): Fragment {
  return ch`
SELECT ${columns}
FROM ${identifier(table)}
WHERE account_id = ${text(accountId)}
  AND (clicked_at, id) IN ${instantKeys(keys)}`
}

/** Numbers of conversions that are no tests, by `textOf` the click; clicks without them are absent. */
export type ConversionCounts = Map<string, number>

/** @returns the key as one text */
export const textOf = ({ atMs, id }: PageKey) => `${atMs} ${id}`

/**
 * Counts the conversions of the clicks at these keys.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readConversionCounts(
  clickhouse: QueryTarget,
  accountId: string,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<ConversionCounts> {
  if (keys.length === 0) return new Map()
  const rows = await selectRows<PageKey & { conversionCount: number }>(
    clickhouse,
    ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND (clicked_at, click_id) IN ${instantKeys(keys)}
  AND NOT is_test
GROUP BY clicked_at, click_id`,
    { label: 'clicks.conversions', signal, settings: smallFinal },
  )
  return new Map(rows.map((row) => [textOf(row), row.conversionCount]))
}

/** A version of a conversion of a click. */
type ConvertedVersion = PageKey & { conversionId: string; version: number; isDeleted: boolean; isTest: boolean }

/** Versions that a page reads at most: usually one click in a hundred converts, and a conversion has few versions. */
const versionsMax = 200

/**
 * Counts the conversions of the newest clicks, at the same time as the page is read.
 * @param conditions that the clicks of the page fulfil
 * @returns a function that returns the count of a click, or undefined for clicks beyond those that were read
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readNewestCounts(
  clickhouse: QueryTarget,
  accountId: string,
  conditions: readonly Fragment[],
  signal: AbortSignal,
): Promise<(key: PageKey) => number | undefined> {
  const { clicks, rest } = await readNewestConverted(clickhouse, accountId, conditions, versionsMax, signal)
  const counts = countsOf(clicks)
  return (key) => {
    const isCovered = !rest || key.atMs > rest.atMs || (key.atMs === rest.atMs && key.id > rest.id)
    return isCovered ? (counts.get(textOf(key)) ?? 0) : undefined
  }
}

/** The key of a click, with the number of its conversions that are no tests. */
export interface CountedKey extends PageKey {
  conversionCount: number
}

/** @returns the counts of clicks that have conversions */
export function countsOf(clicks: readonly CountedKey[]): ConversionCounts {
  return new Map(clicks.flatMap((click) => (click.conversionCount > 0 ? [[textOf(click), click.conversionCount]] : [])))
}

/**
 * Reads the newest clicks that have versions of conversions, and counts their conversions. The latest versions are chosen here,
 * which costs less than FINAL for some hundred rows.
 * @param conditions on the key, and on the columns that every version of a conversion has in common
 * @param versionsMax versions to read
 * @returns clicks, newest first, also without conversions; `rest` is the next click, undefined if there are no more
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readNewestConverted(
  clickhouse: QueryTarget,
  accountId: string,
  conditions: readonly Fragment[],
  versionsMax: number,
  signal: AbortSignal,
): Promise<{ clicks: CountedKey[]; rest: PageKey | undefined }> {
  const versions = await selectRows<ConvertedVersion>(
    clickhouse,
    ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, conversion_id AS conversionId, version,
  is_deleted = 1 AS isDeleted, is_test AS isTest
FROM converted_clicks
WHERE ${join([ch`account_id = ${text(accountId)}`, ...conditions], '\n  AND ')}
ORDER BY clicked_at DESC, click_id DESC
LIMIT ${count(versionsMax)}`,
    { label: 'clicks.conversions', signal, settings: smallRead },
  )
  const latest = new Map<string, ConvertedVersion>()
  for (const row of versions) {
    const key = `${textOf(row)} ${row.conversionId}`
    if (row.version > (latest.get(key)?.version ?? -1)) latest.set(key, row)
  }
  const clicks = new Map<string, CountedKey>()
  for (const { atMs, id, isDeleted, isTest } of latest.values()) {
    const click = clicks.get(textOf({ atMs, id })) ?? { atMs, id, conversionCount: 0 }
    if (!isDeleted && !isTest) click.conversionCount += 1
    clicks.set(textOf(click), click)
  }
  // Other versions of the last click may not be read.
  const rest = versions.length < versionsMax ? undefined : [...clicks.values()].at(-1)
  if (rest) clicks.delete(textOf(rest))
  return { clicks: [...clicks.values()], rest }
}
