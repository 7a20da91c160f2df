import { subIdNames } from '../../schema/subIds.ts'
import type { conversionFields } from '../stores/clickhouse/tableColumns.ts'
import type { RowText } from './rowSerializer.ts'

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

/** @returns the value of a field of a conversion, or a searchable field of its click, empty when absent */
export function conversionValue({ values }: RowText, field: TextField): string {
  return values[positions[field]] as string
}
