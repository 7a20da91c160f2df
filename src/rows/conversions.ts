import { subIdNames } from '../../schema/click.ts'
import type { Conversion } from '../../schema/conversion.ts'
import type { PageKey } from '../query/pagination.ts'
import { toInstantText } from '../query/timeRange.ts'
import { selectRows, smallFinal } from '../stores/clickhouse/select.ts'
import { ch, type Fragment, instantKeys, join, nothing, text } from '../stores/clickhouse/sql.ts'
import type { Stores } from '../stores/open.ts'
import { readEntityNames } from './entityNames.ts'
import type { NameCache } from './nameCache.ts'
import { toAmount, toSubIds, toText } from './values.ts'

/** What `row_text` of a conversion holds, in its order (`clickhouse/0001_baseline.sql`): texts, empty where there is nothing. */
const textFields = [
  'id',
  'source',
  'status',
  'externalStatus',
  'eventName',
  'convertedAtMs',
  'clickedAtMs',
  'createdAtMs',
  'updatedAtMs',
  'storedAtMs',
  'clickId',
  'visitorId',
  'transactionId',
  'campaignId',
  'offerId',
  'landingPageId',
  'trafficSourceId',
  'country',
  'device',
  'os',
  'browser',
  ...subIdNames,
  'payout',
  'revenue',
  'currency',
  'revenueBase',
  'couponCode',
  'isTest',
  'externalClickId',
  'referrer',
] as const

/** A conversion as it is stored, with what is searched of its click; amounts are decimal text. */
export type StoredConversion = Record<(typeof textFields)[number], string>

/** Where a page ends that ends with this row. */
export function conversionKey({ convertedAtMs, id }: StoredConversion): PageKey {
  return { atMs: Number(convertedAtMs), id }
}

/**
 * Reads the latest version of conversions by their keys. These are all that may stand in PREWHERE under FINAL: what is
 * no sort key would leave older versions over; and there they spare reading the text of neighbours.
 * @param state what they were chosen by; one whose latest version does not fulfil it is left out
 * @returns rows in the order of the keys
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readConversions(
  { stores }: { stores: Pick<Stores, 'clickhouse'> },
  accountId: string,
  keys: readonly PageKey[],
  { state, ...options }: { state: readonly Fragment[]; label: string; signal: AbortSignal },
): Promise<StoredConversion[]> {
  if (keys.length === 0) return []
  const rows = await selectRows<{ rowText: string }>(
    stores.clickhouse,
    ch`
SELECT row_text AS rowText
FROM conversions FINAL
PREWHERE account_id = ${text(accountId)} AND (converted_at, id) IN ${instantKeys(keys)}${
      state.length === 0
        ? nothing
        : ch`
WHERE ${join(state, '\n  AND ')}`
    }
ORDER BY converted_at DESC, id DESC`,
    { ...options, settings: smallFinal },
  )
  return rows.map(({ rowText }) => {
    const texts = JSON.parse(rowText) as string[]
    return Object.fromEntries(textFields.map((field, index) => [field, texts[index]])) as StoredConversion
  })
}

/**
 * Finds what is shown of conversions beside what they hold.
 * @returns the function that writes a row as it leaves us
 * @throws Problem `unavailable`
 */
export async function conversionWriter(
  { nameCache }: { nameCache: NameCache },
  { accountId, currency }: { accountId: string; currency: string },
  rows: readonly StoredConversion[],
): Promise<(row: StoredConversion) => Conversion> {
  const placesOf = await readEntityNames(nameCache, accountId, rows)
  return (row) => ({
    id: row.id,
    source: row.source as Conversion['source'],
    status: row.status as Conversion['status'],
    externalStatus: toText(row.externalStatus),
    eventName: toText(row.eventName),
    convertedAt: toInstantText(Number(row.convertedAtMs)),
    clickedAt: row.clickedAtMs === '' ? null : toInstantText(Number(row.clickedAtMs)),
    createdAt: toInstantText(Number(row.createdAtMs)),
    updatedAt: toInstantText(Number(row.updatedAtMs)),
    clickId: toText(row.clickId),
    visitorId: toText(row.visitorId),
    transactionId: toText(row.transactionId),
    ...placesOf(row),
    country: toText(row.country),
    device: toText(row.device) as Conversion['device'],
    os: toText(row.os),
    browser: toText(row.browser),
    subIds: toSubIds(row),
    payout: toAmount(row.payout || null),
    revenue: toAmount(row.revenue || null),
    currency: toText(row.currency),
    revenueBase: toAmount(row.revenueBase || null),
    baseCurrency: currency,
    couponCode: toText(row.couponCode),
    isTest: row.isTest === 'true',
    storedAt: toInstantText(Number(row.storedAtMs)),
  })
}
