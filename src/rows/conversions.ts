import { subIdNames } from '../../schema/subIds.ts'
import { keyConditions, type LatestQuery, latestOf, orderOfKeys } from '../query/latestVersions.ts'
import type { PageKey } from '../query/pagination.ts'
import { type ReadContext, readRows } from '../query/readContext.ts'
import { smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, instantKeys, join, text } from '../stores/clickhouse/sql.ts'
import { conversionFields } from '../stores/clickhouse/tableColumns.ts'
import { readEntityNames } from './entityNames.ts'
import type { RowContext } from './nameCache.ts'
import { entityIdsOf, type RowText, rowWriter } from './rowWriter.ts'
import type { SelectedFields } from './selectedFields.ts'

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
/** Does not compile while a field of conversions is not in `row_text`. */
const positions: Record<keyof typeof conversionFields | TextField, number> = Object.fromEntries(
  conversionTextFields.map((field, index) => [field, index]),
) as Record<TextField, number>
const idsOf = entityIdsOf(conversionTextFields)

/** A conversion as it is stored, with the searchable fields of its click; instants are text of epoch milliseconds. */
export type StoredConversion = RowText

/** @returns the value of a field, empty when absent */
export function conversionValue({ values }: StoredConversion, field: TextField): string {
  return values[positions[field]] as string
}

/** The sort key of a conversion, for cursors. */
export function conversionKey(row: StoredConversion): PageKey {
  return { atMs: Number(conversionValue(row, 'convertedAt')), id: conversionValue(row, 'id') }
}

/** @returns a key as text, to compare it */
export function keyText({ atMs, id }: PageKey): string {
  return `${atMs} ${id}`
}

/**
 * Reads the latest versions of conversions, in the order of their keys, without repetitions. With FINAL, PREWHERE may contain
 * only sort keys: a condition on another column would keep older versions.
 * @param state conditions on the latest version; rows that do not match are omitted
 */
export async function readConversions(
  context: ReadContext,
  accountId: string,
  keys: readonly PageKey[],
  { state, label }: { state: readonly Fragment[]; label: string },
): Promise<StoredConversion[]> {
  if (keys.length === 0) return []
  const query = ch`
SELECT row_text AS rowText
FROM conversions FINAL
PREWHERE account_id = ${text(accountId)} AND (converted_at, id) IN ${instantKeys(keys)}
WHERE ${join([ch`NOT is_deleted`, ...state], '\n  AND ')}`
  const rows = await readRows<{ rowText: string }>(context, query, label, smallFinal)
  const found = rows.map(({ rowText }) => parseRowText(rowText))
  const rowOf = new Map(found.map((row) => [keyText(conversionKey(row)), row]))
  return [...new Set(keys.map(keyText))].flatMap((key) => rowOf.get(key) ?? [])
}

/** Reads the newest conversions that match a query in their latest version, after a key. All versions of its range are collapsed. */
export async function readCollapsed(
  context: ReadContext,
  query: LatestQuery,
  after: PageKey | undefined,
  limit: number,
): Promise<StoredConversion[]> {
  const conditions = [...keyConditions(query, after), ch`NOT is_deleted`, ...query.versionConditions]
  const sql = ch`
SELECT row_text AS rowText
FROM conversions FINAL
WHERE ${join(conditions, '\n  AND ')}
${orderOfKeys(query)}
LIMIT ${count(limit)}`
  const rows = await readRows<{ rowText: string }>(context, sql, 'conversions.page', smallFinal)
  return rows.map(({ rowText }) => parseRowText(rowText))
}

/**
 * Reads the next versions of conversions after a key, and chooses the latest here, at less cost than FINAL.
 * @returns rows in the order of the query; the key of the last conversion whose versions were all read; whether there are no more
 */
export async function readNextVersions(
  context: ReadContext,
  query: LatestQuery,
  after: PageKey | undefined,
  versionsMax: number,
): Promise<{ rows: StoredConversion[]; last: PageKey | undefined; isEnd: boolean }> {
  const sql = ch`
SELECT toUnixTimestamp64Milli(converted_at) AS atMs, id, version,
  ${join([ch`NOT is_deleted`, ...query.versionConditions], '\n  AND ')} AS isListed, row_text AS rowText
FROM conversions
WHERE ${join(keyConditions(query, after), '\n  AND ')}
${orderOfKeys(query)}
LIMIT ${count(versionsMax)}`
  type Version = PageKey & { version: number; isListed: boolean; rowText: string }
  const versions = await readRows<Version>(context, sql, 'conversions.page', smallRead)
  const isEnd = versions.length < versionsMax
  const latest = latestOf(versions, keyText)
  // Other versions of the last conversion may not be read.
  if (!isEnd) latest.pop()
  const rows = latest.filter(({ isListed }) => isListed).map(({ rowText }) => parseRowText(rowText))
  return { rows, last: latest.at(-1), isEnd }
}

function parseRowText(rowText: string): StoredConversion {
  return { values: JSON.parse(rowText), isPlain: !rowText.includes('\\') }
}

/**
 * Reads the names that rows of a page show.
 * @param added names of fields that follow the fields of the table; the caller passes their values with each row
 * @returns the function that makes the JSON of a row
 */
export async function conversionWriter(
  { nameCache }: Pick<RowContext, 'nameCache'>,
  { accountId, currency, selected }: { accountId: string; currency: string; selected?: SelectedFields },
  rows: readonly StoredConversion[],
  added: readonly string[] = [],
): Promise<(row: StoredConversion, values?: Readonly<Record<string, unknown>>) => string> {
  const entitiesOf = await readEntityNames(nameCache, accountId, rows.map(idsOf))
  const write = rowWriter(conversionFields, conversionTextFields, ['storedAt', ...added], selected)
  return (row, added = {}) => write({ ...row, entities: entitiesOf(idsOf(row)), baseCurrency: currency, added })
}
