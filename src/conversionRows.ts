import type { Conversion } from '../schema/conversion.ts'
import { findPlaces, placeColumns, type StoredPlaces } from './places.ts'
import type { Room } from './room.ts'
import { ch, type Fragment, instantKeys, join, text } from './sql/fragment.ts'
import type { PageKey } from './sql/page.ts'
import { selectRows, smallFinal } from './sql/rows.ts'
import { type StoredSubIds, subIdColumns, toAmount, toInstant, toSubIds, toText } from './storedValues.ts'
import { toInstantText } from './time/range.ts'

/** A conversion as it is stored: absent text is empty, amounts are decimal text. */
export type StoredConversion = Record<TextField, string> &
  StoredPlaces &
  StoredSubIds & {
    id: string
    source: Conversion['source']
    status: Conversion['status']
    convertedAtMs: number
    clickedAtMs: number | null
    createdAtMs: number
    updatedAtMs: number
    storedAtMs: number
    payout: string | null
    revenue: string | null
    revenueBase: string | null
    isTest: boolean
  }
type TextField =
  | 'externalStatus'
  | 'eventName'
  | 'clickId'
  | 'visitorId'
  | 'transactionId'
  | 'country'
  | 'device'
  | 'os'
  | 'browser'
  | 'currency'
  | 'couponCode'

/** Where a page ends that ends with this row. */
export function conversionKey({ convertedAtMs, id }: StoredConversion): PageKey {
  return { atMs: convertedAtMs, id }
}

const columns = ch`
  id, source, status, external_status AS externalStatus, event_name AS eventName,
  toUnixTimestamp64Milli(converted_at) AS convertedAtMs, toUnixTimestamp64Milli(clicked_at) AS clickedAtMs,
  toUnixTimestamp64Milli(created_at) AS createdAtMs, toUnixTimestamp64Milli(updated_at) AS updatedAtMs,
  click_id AS clickId, visitor_id AS visitorId, transaction_id AS transactionId,
  ${placeColumns},
  country, device, os, browser, ${subIdColumns},
  payout, revenue, currency, revenue_base AS revenueBase, coupon_code AS couponCode, is_test AS isTest,
  toUnixTimestamp64Milli(stored_at) AS storedAtMs`

/**
 * Reads the latest version of conversions by their keys.
 * @param state what they were chosen by; one whose latest version does not fulfil it is left out
 * @param extra further columns of a select list, beginning with a comma
 * @returns rows in the order of the keys
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function readConversions<Extra = object>(
  { stores }: Pick<Room, 'stores'>,
  accountId: string,
  keys: readonly PageKey[],
  { state, extra, ...asking }: { state: readonly Fragment[]; extra: Fragment; label: string; signal: AbortSignal },
): Promise<(StoredConversion & Extra)[]> {
  if (keys.length === 0) return []
  const conditions = [ch`account_id = ${text(accountId)}`, ch`(converted_at, id) IN ${instantKeys(keys)}`, ...state]
  return await selectRows<StoredConversion & Extra>(
    stores.clickhouse,
    ch`
SELECT ${columns}${extra}
FROM conversions FINAL
WHERE ${join(conditions, '\n  AND ')}
ORDER BY converted_at DESC, id DESC`,
    { ...asking, settings: smallFinal },
  )
}

/**
 * Finds what is shown of conversions beside what they hold.
 * @returns the function that writes a row as it leaves us
 * @throws Problem `unavailable`
 */
export async function conversionWriter(
  { names }: Pick<Room, 'names'>,
  { accountId, currency }: { accountId: string; currency: string },
  rows: readonly StoredConversion[],
): Promise<(row: StoredConversion) => Conversion> {
  const placesOf = await findPlaces(names, accountId, rows)
  return (row) => ({
    id: row.id,
    source: row.source,
    status: row.status,
    externalStatus: toText(row.externalStatus),
    eventName: toText(row.eventName),
    convertedAt: toInstantText(row.convertedAtMs),
    clickedAt: toInstant(row.clickedAtMs),
    createdAt: toInstantText(row.createdAtMs),
    updatedAt: toInstantText(row.updatedAtMs),
    clickId: toText(row.clickId),
    visitorId: toText(row.visitorId),
    transactionId: toText(row.transactionId),
    ...placesOf(row),
    country: toText(row.country),
    device: toText(row.device) as Conversion['device'],
    os: toText(row.os),
    browser: toText(row.browser),
    subIds: toSubIds(row),
    payout: toAmount(row.payout),
    revenue: toAmount(row.revenue),
    currency: toText(row.currency),
    revenueBase: toAmount(row.revenueBase),
    baseCurrency: currency,
    couponCode: toText(row.couponCode),
    isTest: row.isTest,
    storedAt: toInstantText(row.storedAtMs),
  })
}
