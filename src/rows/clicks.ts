import { subIdNames } from '../../schema/subIds.ts'
import { latestOf } from '../query/latestVersions.ts'
import type { PageKey } from '../query/pagination.ts'
import { toInstantText } from '../query/timeRange.ts'
import type { ColumnKind } from '../stores/clickhouse/columnKinds.ts'
import { type QueryTarget, selectRows, smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, identifier, instantKeys, join, text } from '../stores/clickhouse/sql.ts'
import { clickFields } from '../stores/clickhouse/tableColumns.ts'
import { type EntityIds, entityIdNames, readEntityNames } from './entityNames.ts'
import type { NameCache } from './nameCache.ts'
import type { Shown } from './responseFields.ts'

const { id: _id, clickedAt: _clickedAt, ...shownFields } = clickFields

/**
 * The fields in the column `page_text`, in its order; absent values are empty text. A test compares them with the column.
 * TRAP: stored rows have this order, so new fields are at the end, here and in the column.
 */
export const clickTextFields = Object.entries<ColumnKind>({ ...shownFields, storedAt: 'instant' })

/** The select list of the keys and texts of clicks, and its rows. */
export const clickTexts = ch`toUnixTimestamp64Milli(clicked_at) AS atMs, id, page_text AS pageText`
export type ClickText = PageKey & { pageText: string }

/** A click, before names and conversions are added. */
export interface FoundClick extends PageKey {
  entityIds: EntityIds
  /** @returns the row of a response as JSON */
  toJson(shown: Shown & { conversionCount: number }): string
}

/** @returns the click of a row of `clickTexts` */
export function clickOfText({ atMs, id, pageText }: ClickText): FoundClick {
  // The separator, NUL, is in no value.
  const values = pageText.split('\0')
  // Most texts contain nothing that JSON escapes, so each text is searched once instead of each value.
  const isPlain = !escaped.test(pageText)
  return {
    atMs,
    id,
    entityIds: Object.fromEntries(entityIdNames.map((name, index) => [name, values[index]])) as unknown as EntityIds,
    toJson({ entities, baseCurrency, conversionCount }) {
      let json = `{"id":"${id}","clickedAt":"${toInstantText(atMs)}",${JSON.stringify(entities).slice(1, -1)}`
      for (const { index, prefix, kind, suffix } of writtenFields) {
        const value = values[index] as string
        json += prefix
        if (kind === 'flag') json += value === 'true'
        else if (value === '') json += 'null'
        else if (kind === 'moneyOrNull') json += Number(value)
        else json += isPlain ? `"${value}"` : JSON.stringify(value)
        json += suffix
        if (index === costBaseIndex) json += `,"baseCurrency":"${baseCurrency}"`
      }
      const storedAt = toInstantText(Number(values.at(-1)))
      return `${json},"converted":${conversionCount > 0},"conversionCount":${conversionCount},"storedAt":"${storedAt}"}`
    },
  }
}

/** Characters that JSON escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escaped = /["\\\u0001-\u001f]/

const costBaseIndex = clickTextFields.findIndex(([name]) => name === 'costBase')

/** The fields of a text that a response shows as they are, and what stands around each value. */
const writtenFields = clickTextFields
  .map(([name, kind], index) => ({
    index,
    kind,
    prefix: name === subIdNames[0] ? `,"subIds":{"${name}":` : `,"${name}":`,
    suffix: name === subIdNames.at(-1) ? '}' : '',
  }))
  .slice(entityIdNames.length, -1)

/** Which clicks to read. */
export interface ClicksToRead {
  accountId: string
  currency: string
  /** The filter of the list: with true, the copies of converted clicks are read first. */
  converted?: boolean | undefined
}

/** What reads of clicks need. */
interface ClickContext {
  stores: { clickhouse: QueryTarget }
  nameCache: NameCache
}

/**
 * Reads the clicks at these keys, in their order, with their conversion counts and the names of their entities.
 * @returns rows of a response as JSON
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readClicks(
  context: ClickContext,
  query: ClicksToRead,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<string[]> {
  if (keys.length === 0) return []
  const [clicks, counts] = await Promise.all([
    readFoundClicks(context.stores.clickhouse, query, keys, signal),
    readConversionCounts(context.stores.clickhouse, query.accountId, keys, signal),
  ])
  return writeClicks(context, query, clicks, counts)
}

/** Adds conversion counts and the names of entities. @returns rows of a response as JSON @throws Problem `unavailable` */
export async function writeClicks(
  { nameCache }: Pick<ClickContext, 'nameCache'>,
  { accountId, currency }: Pick<ClicksToRead, 'accountId' | 'currency'>,
  clicks: readonly FoundClick[],
  counts: ConversionCounts,
): Promise<string[]> {
  const ids = clicks.map(({ entityIds }) => entityIds)
  const entitiesOf = await readEntityNames(nameCache, accountId, ids)
  return clicks.map(({ id, entityIds, toJson }) =>
    toJson({ entities: entitiesOf(entityIds), baseCurrency: currency, conversionCount: counts.get(id) ?? 0 }),
  )
}

/**
 * Reads the clicks at these keys, in their order, without those that were removed; converted clicks from their copies,
 * which are close together on disk.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readFoundClicks(
  clickhouse: QueryTarget,
  { accountId, converted }: ClicksToRead,
  keys: readonly PageKey[],
  signal: AbortSignal,
): Promise<FoundClick[]> {
  const clickById = new Map<string, FoundClick>()
  const options = { label: 'clicks.rows', signal }
  for (const table of converted ? (['converted_click_rows', 'clicks'] as const) : (['clicks'] as const)) {
    const missing = keys.filter(({ id }) => !clickById.has(id))
    if (missing.length === 0) break
    const rows = await selectRows<ClickText>(clickhouse, textsSql(table, accountId, missing), options)
    for (const row of rows) clickById.set(row.id, clickOfText(row))
  }
  return keys.flatMap(({ id }) => clickById.get(id) ?? [])
}

/**
 * The clicks of a page by their sort keys, unordered.
 * @param table `converted_click_rows` has copies of most clicks with conversions
 */
function textsSql(table: 'clicks' | 'converted_click_rows', accountId: string, keys: readonly PageKey[]): Fragment {
  return ch`
SELECT ${clickTexts}
FROM ${identifier(table)}
WHERE account_id = ${text(accountId)}
  AND (clicked_at, id) IN ${instantKeys(keys)}`
}

/** Numbers of conversions that are no tests, by the id of the click; clicks without them may be absent. */
type ConversionCounts = Map<string, number>

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
  const query = ch`
SELECT click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND (clicked_at, click_id) IN ${instantKeys(keys)}
  AND NOT is_test
GROUP BY click_id`
  const options = { label: 'clicks.conversions', signal, settings: smallFinal }
  const rows = await selectRows<{ id: string; conversionCount: number }>(clickhouse, query, options)
  return new Map(rows.map(({ id, conversionCount }) => [id, conversionCount]))
}

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
  const { clicks, incomplete } = await readNewestConverted(clickhouse, accountId, conditions, versionsMax, signal)
  const counts = new Map(clicks.map(({ id, conversionCount }) => [id, conversionCount]))
  return (key) => {
    const isCovered =
      !incomplete || key.atMs > incomplete.atMs || (key.atMs === incomplete.atMs && key.id > incomplete.id)
    return isCovered ? (counts.get(key.id) ?? 0) : undefined
  }
}

/** The key of a click, with the number of its conversions that are no tests. */
type CountedKey = PageKey & { conversionCount: number }

/**
 * Reads the newest clicks that have versions of conversions, and counts their conversions. The latest versions are chosen here,
 * which costs less than FINAL for some hundred rows.
 * @param conditions on the key, and on the columns that every version of a conversion has in common
 * @param versionsMax versions to read
 * @returns clicks, newest first, also without conversions; `incomplete` is the last click that was read, whose versions may not
 *   all be read, undefined at the end
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readNewestConverted(
  clickhouse: QueryTarget,
  accountId: string,
  conditions: readonly Fragment[],
  versionsMax: number,
  signal: AbortSignal,
): Promise<{ clicks: CountedKey[]; incomplete: PageKey | undefined }> {
  const query = ch`
SELECT toUnixTimestamp64Milli(clicked_at) AS atMs, click_id AS id, conversion_id AS conversionId, version,
  is_deleted = 1 AS isDeleted, is_test AS isTest
FROM converted_clicks
WHERE ${join([ch`account_id = ${text(accountId)}`, ...conditions], '\n  AND ')}
ORDER BY clicked_at DESC, click_id DESC
LIMIT ${count(versionsMax)}`
  type Version = PageKey & { conversionId: string; version: number; isDeleted: boolean; isTest: boolean }
  const options = { label: 'clicks.conversions', signal, settings: smallRead }
  const versions = await selectRows<Version>(clickhouse, query, options)
  const clicks = new Map<string, CountedKey>()
  for (const { atMs, id, isDeleted, isTest } of latestOf(versions, (row) => `${row.id} ${row.conversionId}`)) {
    const click = clicks.get(id) ?? { atMs, id, conversionCount: 0 }
    if (!isDeleted && !isTest) click.conversionCount += 1
    clicks.set(id, click)
  }
  // Other versions of the last click may not be read.
  const incomplete = versions.length < versionsMax ? undefined : [...clicks.values()].at(-1)
  if (incomplete) clicks.delete(incomplete.id)
  return { clicks: [...clicks.values()], incomplete }
}
