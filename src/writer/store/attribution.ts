import { subIdNames } from '../../../schema/click.ts'
import { idList } from '../../stores/clickhouse/idList.ts'
import { runStatement } from '../../stores/clickhouse/insert.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, join, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Click } from '../tables/click.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Writer } from '../writer.ts'

/** Properties that a conversion copies from its click where it has none itself. */
const dimensions = [
  'visitorId',
  'campaignId',
  'offerId',
  'landingPageId',
  'trafficSourceId',
  'country',
  'device',
  'os',
  'browser',
  ...subIdNames,
] as const satisfies readonly (keyof Click & keyof Conversion)[]

type Attributes = Pick<Click, 'id' | 'clickedAt' | 'externalClickId' | 'referrer' | (typeof dimensions)[number]>

const attributes = ch`
  id, toUnixTimestamp64Milli(clicked_at) AS clickedAt, external_click_id AS externalClickId, referrer,
  visitor_id AS visitorId, campaign_id AS campaignId, offer_id AS offerId, landing_page_id AS landingPageId,
  traffic_source_id AS trafficSourceId, country, device, os, browser,
  ${join(subIdNames.map(identifier), ', ')}`

/**
 * Attributes conversions to their clicks: sets `clickAt` and the other click attributes, and those dimensions that the
 * conversion has no value for. A conversion without a stored click is left unchanged.
 */
export async function copyClickDimensions(writer: Writer, conversions: readonly Conversion[]): Promise<void> {
  const ids = new Set(conversions.map(({ clickId }) => clickId))
  ids.delete('')
  if (ids.size === 0) return
  const clicks = await retryWhileUnavailable(
    'looking up clicks',
    async () => {
      await copyClicks(writer, [...ids])
      return readClicks(writer, [...ids])
    },
    writer,
  )
  for (const conversion of conversions) {
    const click = clicks.get(conversion.clickId)
    if (!click) continue
    conversion.clickAt = click.clickedAt
    conversion.clickCampaignId = click.campaignId
    conversion.clickOfferId = click.offerId
    conversion.clickExternalId = click.externalClickId
    conversion.clickReferrer = click.referrer
    conversion.clickedAt ??= click.clickedAt
    for (const dimension of dimensions) conversion[dimension] ||= click[dimension]
  }
}

/**
 * Copies clicks to `converted_click_rows`, which pages of converted clicks and attribution read, because these clicks are
 * scattered over `clicks`. A copy without a conversion does no harm.
 */
async function copyClicks({ stores, accountId }: Writer, ids: readonly string[]): Promise<void> {
  const keys = clickKeys(accountId, ids)
  await runStatement(
    stores.clickhouse,
    ch`
INSERT INTO converted_click_rows
SELECT *
FROM clicks
WHERE ${keys}
  AND (clicked_at, id) NOT IN (SELECT clicked_at, id FROM converted_click_rows WHERE ${keys})`,
    'import.converted_clicks',
  )
}

async function readClicks({ stores, accountId }: Writer, ids: readonly string[]): Promise<Map<string, Attributes>> {
  const rows = await selectRows<Attributes>(
    stores.clickhouse,
    ch`
SELECT ${attributes}
FROM converted_click_rows
WHERE ${clickKeys(accountId, ids)}
LIMIT 1 BY id`,
    { label: 'import.attribution' },
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Condition on the sort keys of the clicks with these ids, which the index returns. */
function clickKeys(accountId: string, ids: readonly string[]): Fragment {
  const account = ch`account_id = ${text(accountId)}`
  return ch`${account}
  AND (clicked_at, id) IN (SELECT clicked_at, id FROM click_index WHERE ${account} AND id IN ${idList(ids)})`
}
