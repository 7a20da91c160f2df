import { ch, count, type Fragment, instant, text } from '../sql/fragment.ts'
import { selectRows } from '../sql/rows.ts'
import { attribute } from './attribution.ts'
import type { Conversion } from './conversion.ts'
import { writeVersions } from './conversions.ts'
import { untilAnswered } from './patience.ts'
import type { Writer } from './writer.ts'

const pageRows = 10_000

/**
 * Joins conversions that came before their click with it, now that it is stored: a new version with the click's place
 * and dimensions, `updatedAt` as it was. Cheap when none waits; a run that is cut short is made up for by the next one.
 * @throws LeaseLost, or the last error when a store stays away
 */
export async function attachWaiting(writer: Writer): Promise<void> {
  let after: { convertedAt: number; id: string } | undefined = { convertedAt: 0, id: '' }
  while (after) {
    const page: Conversion[] = await readPage(writer, after)
    await attribute(writer, page)
    const changes = page
      .filter(({ clickAt }) => clickAt !== null)
      .map((row) => ({ row, before: { ...row, clickAt: null } }))
    await writeVersions(writer, changes)
    after = page.length === pageRows ? page.at(-1) : undefined
  }
}

/** Conversions without a click whose click is in the index by now, in key order. */
async function readPage(writer: Writer, after: { convertedAt: number; id: string }): Promise<Conversion[]> {
  const account = ch`account_id = ${text(writer.accountId)}`
  const isWaiting = ch`${account} AND click_at IS NULL AND click_id != ''`
  const question = ch`
SELECT ${wholeRow}
FROM conversions FINAL
WHERE ${isWaiting}
  AND converted_at >= ${instant(after.convertedAt)}
  AND (converted_at, id) > (${instant(after.convertedAt)}, ${text(after.id)})
  AND click_id IN (
    SELECT id FROM click_index
    WHERE ${account} AND id IN (SELECT click_id FROM conversions WHERE ${isWaiting}))
ORDER BY converted_at, id
LIMIT ${count(pageRows)}`
  const rows = await untilAnswered(
    'looking for conversions that wait for their click',
    () => selectRows<StoredRow>(writer.stores.clickhouse, question, { label: 'import.waiting' }),
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
  sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10,
  payout, revenue, currency, revenue_base AS revenueBase, coupon_code AS couponCode, is_test AS isTest,
  import_file AS importFile, import_line AS importLine`

/** Decimal(18, 6) as ClickHouse writes it, `-12.5`, in millionths. */
function millionths(decimal: string | null): bigint | null {
  if (decimal === null) return null
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}
