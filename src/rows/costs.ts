import { subIdNames } from '../../schema/subIds.ts'
import type { costFields } from '../stores/clickhouse/tableColumns.ts'

/**
 * The fields in the column `row_text`, in its order; absent values are empty text. A test compares them with the column.
 * TRAP: stored rows have this order, so new fields are at the end, here and in the column.
 */
export const costTextFields = [
  ...(['id', 'spentAt', 'updatedAt', 'campaignId', 'offerId', 'landingPageId', 'trafficSourceId'] as const),
  ...(['country', 'device', 'os', 'browser', ...subIdNames, 'cost', 'currency', 'costBase', 'storedAt'] as const),
] satisfies (keyof typeof costFields | 'storedAt')[]
