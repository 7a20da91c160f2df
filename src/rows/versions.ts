import { keyConditions, type LatestQuery, latestOf, orderOfKeys, type VersionedTable } from '../query/latestVersions.ts'
import type { NextRows } from '../query/list.ts'
import type { PageKey } from '../query/pagination.ts'
import { type ReadContext, readLongRows } from '../query/readContext.ts'
import type { Fields } from '../stores/clickhouse/columnKinds.ts'
import { smallFinal, smallRead } from '../stores/clickhouse/select.ts'
import { ch, count, type Fragment, identifier, instantKeys, join, text } from '../stores/clickhouse/sql.ts'
import { conversionFields, costFields, timeColumns } from '../stores/clickhouse/tableColumns.ts'
import { conversionTextFields } from './conversions.ts'
import { costTextFields } from './costs.ts'
import { readEntityNames } from './entityNames.ts'
import type { RowContext } from './nameCache.ts'
import { type RowText, rowSerializer } from './rowSerializer.ts'
import type { SelectedFields } from './selectedFields.ts'

/** The rows of each table as responses and `row_text` have them. */
export const layouts: Readonly<
  Record<VersionedTable, { fields: Fields; textFields: readonly string[]; time: string }>
> = {
  conversions: { fields: conversionFields, textFields: conversionTextFields, time: 'convertedAt' },
  costs: { fields: costFields, textFields: costTextFields, time: 'spentAt' },
}

/** @param time `storedAt` for the key in this order @returns the sort key of a row, for cursors */
export function keyOf(table: VersionedTable, { values }: RowText, time = layouts[table].time): PageKey {
  const { textFields } = layouts[table]
  return { atMs: Number(values[textFields.indexOf(time)]), id: values[textFields.indexOf('id')] as string }
}

/** @returns a key as text, to compare it */
export function keyText({ atMs, id }: PageKey): string {
  return `${atMs} ${id}`
}

/**
 * Reads the latest versions of rows, in the order of their keys, without repetitions. With FINAL, PREWHERE may contain only sort
 * keys: a condition on another column would keep older versions.
 * @param state conditions on the latest version; rows that do not match are omitted
 * @returns undefined if the rows at several keys have too many bytes
 */
export async function readLatest(
  context: ReadContext,
  { table, accountId }: { table: VersionedTable; accountId: string },
  keys: readonly PageKey[],
  { state, label }: { state: readonly Fragment[]; label: string },
): Promise<RowText[] | undefined> {
  if (keys.length === 0) return []
  const query = ch`
SELECT row_text AS rowText
FROM ${identifier(table)} FINAL
PREWHERE account_id = ${text(accountId)} AND (${timeColumns[table]}, id) IN ${instantKeys(keys)}
WHERE ${join([ch`NOT is_deleted`, ...state], '\n  AND ')}`
  const { rows, isCut } = await readLongRows<{ rowText: string }>(context, query, label, smallFinal)
  if (isCut && keys.length > 1) return undefined
  const found = rows.map(({ rowText }) => parseRowText(rowText))
  const rowOf = new Map(found.map((row) => [keyText(keyOf(table, row)), row]))
  return [...new Set(keys.map(keyText))].flatMap((key) => rowOf.get(key) ?? [])
}

/** Reads the newest rows that match a query in their latest version, after a key. All versions of its range are collapsed. */
export async function readCollapsed(
  context: ReadContext,
  query: LatestQuery,
  after: PageKey | undefined,
  limit: number,
): Promise<NextRows<RowText>> {
  const conditions = [...keyConditions(query, after), ch`NOT is_deleted`, ...query.versionConditions]
  const sql = ch`
SELECT row_text AS rowText
FROM ${identifier(query.table)} FINAL
WHERE ${join(conditions, '\n  AND ')}
${orderOfKeys(query)}
LIMIT ${count(limit)}`
  const { rows, isCut } = await readLongRows<{ rowText: string }>(context, sql, `${query.table}.page`, smallFinal)
  return { rows: rows.map(({ rowText }) => parseRowText(rowText)), isFull: isCut }
}

/**
 * Reads the next versions of rows after a key, and chooses the latest here, at less cost than FINAL.
 * @returns rows in the order of the query; the key of the last row whose versions were all read; whether there are no more
 */
export async function readNextVersions(
  context: ReadContext,
  query: LatestQuery,
  after: PageKey | undefined,
  versionsMax: number,
): Promise<NextRows<RowText> & { last: PageKey | undefined; isEnd: boolean }> {
  const sql = ch`
SELECT toUnixTimestamp64Milli(${timeColumns[query.table]}) AS atMs, id, version,
  ${join([ch`NOT is_deleted`, ...query.versionConditions], '\n  AND ')} AS isListed, row_text AS rowText
FROM ${identifier(query.table)}
WHERE ${join(keyConditions(query, after), '\n  AND ')}
${orderOfKeys(query)}
LIMIT ${count(versionsMax)}`
  type Version = PageKey & { version: number; isListed: boolean; rowText: string }
  const { rows: versions, isCut } = await readLongRows<Version>(context, sql, `${query.table}.page`, smallRead)
  const isEnd = !isCut && versions.length < versionsMax
  const latest = latestOf(versions, keyText)
  // Other versions of the last row may not be read.
  if (!isEnd) latest.pop()
  const rows = latest.filter(({ isListed }) => isListed).map(({ rowText }) => parseRowText(rowText))
  return { rows, last: latest.at(-1), isEnd, isFull: isCut }
}

function parseRowText(rowText: string): RowText {
  return { values: JSON.parse(rowText), isPlain: !rowText.includes('\\') }
}

/**
 * Reads the names that rows of a page show.
 * @param added names of fields that follow the fields of the table; the caller passes their values with each row
 * @returns the function that makes the JSON of a row
 */
export async function versionSerializer(
  { nameCache }: Pick<RowContext, 'nameCache'>,
  plan: { table: VersionedTable; accountId: string; currency: string; selected?: SelectedFields },
  rows: readonly RowText[],
  added: readonly string[] = [],
): Promise<(row: RowText, values?: Readonly<Record<string, unknown>>) => string> {
  const { fields, textFields } = layouts[plan.table]
  const names = await readEntityNames(nameCache, plan.accountId, textFields, rows)
  const toJson = rowSerializer(fields, textFields, ['storedAt', ...added], plan.selected)
  const page = { names, baseCurrency: plan.currency }
  return (row, added) => toJson(row, page, added)
}
