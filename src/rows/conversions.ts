import type { Conversion } from '../../schema/conversion.ts'
import { subIdNames } from '../../schema/subIds.ts'
import { latestOf } from '../query/latestVersions.ts'
import type { PageKey } from '../query/pagination.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectRows, smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, instantKeys, join, text } from '../stores/clickhouse/sql.ts'
import { conversionFields } from '../stores/clickhouse/tableColumns.ts'
import type { Stores } from '../stores/open.ts'
import { readEntityNames } from './entityNames.ts'
import type { NameCache } from './nameCache.ts'
import { responseFields } from './responseFields.ts'

/**
 * The fields in the column `row_text`, in its order; absent values are empty text. A test compares them with the column.
 * TRAP: stored rows have this order, so new fields are at the end, here and in the column.
 */
export const conversionTextFields = [
  ...(['id', 'source', 'status', 'externalStatus', 'eventName', 'convertedAt', 'clickedAt', 'createdAt'] as const),
  ...(['updatedAt', 'clickId', 'visitorId', 'transactionId', 'campaignId', 'offerId', 'landingPageId'] as const),
  ...(['trafficSourceId', 'country', 'device', 'os', 'browser', ...subIdNames] as const),
  ...(['payout', 'revenue', 'currency', 'revenueBase', 'couponCode', 'isTest', 'storedAt'] as const),
  // Of the click, for search.
  ...(['externalClickId', 'referrer'] as const),
]
type TextField = (typeof conversionTextFields)[number]

/** A conversion as it is stored, with the searchable fields of its click; instants are text of epoch milliseconds. */
export type StoredConversion = Record<keyof typeof conversionFields | TextField, string>

/** The sort key of a conversion, for cursors. */
export function conversionKey({ convertedAt, id }: StoredConversion): PageKey {
  return { atMs: Number(convertedAt), id }
}

/** @returns a key as text, to compare it */
export function keyText({ atMs, id }: PageKey): string {
  return `${atMs} ${id}`
}

/**
 * Reads the latest versions of conversions, in the order of their keys, without repetitions. With FINAL, PREWHERE may contain
 * only sort keys: a condition on another column would keep older versions.
 * @param state conditions on the latest version; rows that do not match are omitted
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readConversions(
  { stores }: { stores: Pick<Stores, 'clickhouse'> },
  accountId: string,
  keys: readonly PageKey[],
  { state, ...options }: { state: readonly Fragment[]; label: string; signal: AbortSignal },
): Promise<StoredConversion[]> {
  if (keys.length === 0) return []
  const query = ch`
SELECT row_text AS rowText
FROM conversions FINAL
PREWHERE account_id = ${text(accountId)} AND (converted_at, id) IN ${instantKeys(keys)}
WHERE ${join([ch`NOT is_deleted`, ...state], '\n  AND ')}`
  const rows = await selectRows<{ rowText: string }>(stores.clickhouse, query, { ...options, settings: smallFinal })
  const found = rows.map(({ rowText }) => parseRowText(rowText))
  const rowOf = new Map(found.map((row) => [keyText(conversionKey(row)), row]))
  return [...new Set(keys.map(keyText))].flatMap((key) => rowOf.get(key) ?? [])
}

/**
 * Reads the newest versions that fulfil conditions on the sort key, and chooses the latest here, at less cost than FINAL.
 * @param state conditions on the latest version; rows that do not match are omitted
 * @returns rows, newest first; the key of the last conversion that was read, and whether there are no more
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readNewestConversions(
  { stores }: { stores: Pick<Stores, 'clickhouse'> },
  keyConditions: readonly Fragment[],
  versionsMax: number,
  { state, ...options }: { state: readonly Fragment[]; label: string; signal: AbortSignal },
): Promise<{ rows: StoredConversion[]; after: PageKey | undefined; isEnd: boolean }> {
  const query = ch`
SELECT toUnixTimestamp64Milli(converted_at) AS atMs, id, version,
  ${join([ch`NOT is_deleted`, ...state], '\n  AND ')} AS isListed, row_text AS rowText
FROM conversions
WHERE ${join(keyConditions, '\n  AND ')}
ORDER BY converted_at DESC, id DESC
LIMIT ${count(versionsMax)}`
  type Version = PageKey & { version: number; isListed: boolean; rowText: string }
  const versions = await selectRows<Version>(stores.clickhouse, query, { ...options, settings: smallRead })
  const isEnd = versions.length < versionsMax
  const latest = latestOf(versions, keyText)
  // Other versions of the last conversion may not be read.
  if (!isEnd) latest.pop()
  const rows = latest.filter(({ isListed }) => isListed).map(({ rowText }) => parseRowText(rowText))
  return { rows, after: latest.at(-1), isEnd }
}

function parseRowText(rowText: string): StoredConversion {
  const texts = JSON.parse(rowText) as string[]
  const row = {} as Record<TextField, string>
  for (const [index, field] of conversionTextFields.entries()) row[field] = texts[index] as string
  // Does not compile while a field of conversions is not in `row_text`.
  return row
}

const toFields = responseFields(conversionFields)

/** Reads the names that rows of a page show. @returns the function that makes a row of the response @throws Problem `unavailable` */
export async function conversionWriter(
  { nameCache }: { nameCache: NameCache },
  { accountId, currency }: { accountId: string; currency: string },
  rows: readonly StoredConversion[],
): Promise<(row: StoredConversion) => Conversion> {
  const entitiesOf = await readEntityNames(nameCache, accountId, rows)
  return (row) =>
    // A test compares the fields of the list with the schema.
    Object.assign(toFields(row, { entities: entitiesOf(row), baseCurrency: currency }), {
      storedAt: toInstantText(Number(row.storedAt)),
    }) as unknown as Conversion
}
