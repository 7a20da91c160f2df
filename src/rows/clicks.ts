import { subIdNames } from '../../schema/subIds.ts'
import type { PageKey } from '../query/pagination.ts'
import { type ReadContext, readLongRows, readRows } from '../query/readContext.ts'
import { smallFinal } from '../stores/clickhouse/select.ts'
import { ch, identifier, instantKeys, text } from '../stores/clickhouse/sql.ts'
import { clickFields } from '../stores/clickhouse/tableColumns.ts'
import { readEntityNames } from './entityNames.ts'
import type { RowContext } from './nameCache.ts'
import { type RowText, rowSerializer } from './rowSerializer.ts'
import { isSelected, type SelectedFields } from './selectedFields.ts'

/**
 * The fields in the column `page_text`, in its order; absent values are empty text. A test compares them with the column.
 * TRAP: stored rows have this order, so new fields are at the end, here and in the column.
 */
export const clickTextFields = [
  ...(['campaignId', 'offerId', 'landingPageId', 'trafficSourceId', 'visitorId', 'country', 'region', 'city'] as const),
  ...(['device', 'os', 'osVersion', 'browser', 'browserVersion', 'language', 'referrer', 'userAgent', 'ip'] as const),
  ...([...subIdNames, 'externalClickId', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'] as const),
  ...(['cost', 'currency', 'costBase', 'isBot', 'isTest', 'storedAt'] as const),
]

/** The select list of the keys and texts of clicks, and its rows. */
export const clickTexts = ch`toUnixTimestamp64Milli(clicked_at) AS atMs, id, page_text AS pageText`
export type ClickText = PageKey & { pageText: string }

/** A click with its sort key, before names and conversions are added. */
export interface FoundClick extends PageKey, RowText {
  /** Number of its conversions, if it was read with the click. */
  conversionCount?: number | undefined
}

/** @returns the click of a row of `clickTexts` */
export function clickOfText({ atMs, id, pageText }: ClickText): FoundClick {
  // The separator, NUL, is in no value.
  return { atMs, id, values: [id, `${atMs}`, ...pageText.split('\0')], isPlain: !escaped.test(pageText) }
}

/** Characters that JSON escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escaped = /["\\\u0001-\u001f]/

const textFields = ['id', 'clickedAt', ...clickTextFields] as const

/**
 * Reads the names of the entities of clicks, and the numbers of conversions that were not read with them.
 * @returns the function that makes the JSON of a click
 */
export async function clickSerializer(
  context: RowContext,
  { accountId, currency, selected }: { accountId: string; currency: string; selected?: SelectedFields },
  clicks: readonly FoundClick[],
): Promise<(click: FoundClick) => string> {
  const uncounted = hasCounts(selected) ? clicks.filter(({ conversionCount }) => conversionCount === undefined) : []
  const [counts, names] = await Promise.all([
    readConversionCounts(context, accountId, uncounted),
    readEntityNames(context.nameCache, accountId, textFields, clicks),
  ])
  const toJson = rowSerializer(clickFields, textFields, ['converted', 'conversionCount', 'storedAt'], selected)
  const page = { names, baseCurrency: currency }
  return (click) => {
    const conversionCount = click.conversionCount ?? counts.get(click.id) ?? 0
    return toJson(click, page, { converted: conversionCount > 0, conversionCount })
  }
}

/** Whether a response has fields for which the conversions of clicks are counted. */
export function hasCounts(selected: SelectedFields): boolean {
  return isSelected('converted', selected) || isSelected('conversionCount', selected)
}

/**
 * Reads the clicks at these keys, in their order, without those that were removed.
 * @param converted the filter of the list: with true, the copies of converted clicks, which are close together on disk, are read first
 * @returns undefined if the clicks at several keys have too many bytes
 */
export async function readClicks(
  context: ReadContext,
  { accountId, converted }: { accountId: string; converted?: boolean | undefined },
  keys: readonly PageKey[],
): Promise<FoundClick[] | undefined> {
  const clickById = new Map<string, FoundClick>()
  // Most clicks with conversions have a copy.
  for (const table of converted ? (['converted_click_rows', 'clicks'] as const) : (['clicks'] as const)) {
    const missing = keys.filter(({ id }) => !clickById.has(id))
    if (missing.length === 0) break
    const query = ch`
SELECT ${clickTexts}
FROM ${identifier(table)}
WHERE account_id = ${text(accountId)}
  AND (clicked_at, id) IN ${instantKeys(missing)}`
    const { rows, isCut } = await readLongRows<ClickText>(context, query, 'clicks.rows')
    if (isCut && keys.length > 1) return undefined
    for (const row of rows) clickById.set(row.id, clickOfText(row))
  }
  return keys.flatMap(({ id }) => clickById.get(id) ?? [])
}

/**
 * Counts the conversions of the clicks at these keys.
 * @returns numbers of conversions that are no tests, by the id of the click; clicks without them may be absent
 */
async function readConversionCounts(context: ReadContext, accountId: string, keys: readonly PageKey[]) {
  if (keys.length === 0) return new Map<string, number>()
  const query = ch`
SELECT click_id AS id, count() AS conversionCount
FROM converted_clicks FINAL
WHERE account_id = ${text(accountId)}
  AND (clicked_at, click_id) IN ${instantKeys(keys)}
  AND NOT is_test
GROUP BY click_id`
  type Count = { id: string; conversionCount: number }
  const rows = await readRows<Count>(context, query, 'clicks.remaining_conversions', smallFinal)
  return new Map(rows.map(({ id, conversionCount }) => [id, conversionCount]))
}
