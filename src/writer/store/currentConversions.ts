import { subIdNames } from '../../../schema/click.ts'
import { parseMillionths } from '../../query/money.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, join, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Writer } from '../writer.ts'

/**
 * Reads all columns of conversions in their current version, which a change writes again as deleted.
 * @param where conditions besides the account, and the clauses that follow `WHERE`
 * @param purpose `step` for messages, `label` for ClickHouse's query log
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function readCurrentConversions(
  writer: Writer,
  where: Fragment,
  purpose: { step: string; label: string },
): Promise<Conversion[]> {
  const query = ch`
SELECT ${wholeRow}
FROM conversions FINAL
WHERE account_id = ${text(writer.accountId)}
  AND ${where}`
  const rows = await retryWhileUnavailable(
    purpose.step,
    () => selectRows<StoredRow>(writer.stores.clickhouse, query, { label: purpose.label }),
    writer,
  )
  return rows.map((row) => ({
    ...row,
    accountId: writer.accountId,
    isDeleted: false,
    payout: millionths(row.payout),
    revenue: millionths(row.revenue),
    revenueBase: millionths(row.revenueBase),
  }))
}

type Amounts = 'payout' | 'revenue' | 'revenueBase'
type StoredRow = Omit<Conversion, Amounts | 'accountId' | 'isDeleted'> & Record<Amounts, string | null>

const wholeRow: Fragment = ch`
  id, toUnixTimestamp64Milli(converted_at) AS convertedAt, version, source, status, external_status AS externalStatus,
  event_name AS eventName, toUnixTimestamp64Milli(clicked_at) AS clickedAt,
  toUnixTimestamp64Milli(created_at) AS createdAt, toUnixTimestamp64Milli(updated_at) AS updatedAt,
  click_id AS clickId, toUnixTimestamp64Milli(click_at) AS clickAt, click_campaign_id AS clickCampaignId,
  click_offer_id AS clickOfferId, click_external_id AS clickExternalId, click_referrer AS clickReferrer,
  visitor_id AS visitorId, transaction_id AS transactionId, campaign_id AS campaignId, offer_id AS offerId,
  landing_page_id AS landingPageId, traffic_source_id AS trafficSourceId, country, device, os, browser,
  ${join(subIdNames.map(identifier), ', ')},
  payout, revenue, currency, revenue_base AS revenueBase, coupon_code AS couponCode, is_test AS isTest,
  import_file AS importFile, import_line AS importLine`

function millionths(decimal: string | null): bigint | null {
  return decimal === null ? null : parseMillionths(decimal)
}
