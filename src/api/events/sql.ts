import { ch, type Fragment, join, text } from '../../stores/clickhouse/sql.ts'
import { textList } from '../../stores/clickhouse/textList.ts'

/** The id of a click, campaign or event, with its account. */
export interface OwnedId {
  accountId: string
  id: string
}

/**
 * The campaigns of clicks. One SELECT per account: a single one over (account, id) pairs reads several times as much.
 * @param wanted at least one
 * @returns rows `accountId`, `id`, `campaignId`
 */
export function clickCampaignsSql(wanted: readonly OwnedId[]): Fragment {
  return perAccount(
    wanted,
    (accountId, ids) => ch`
SELECT account_id AS accountId, id, campaign_id AS campaignId
FROM click_index
WHERE account_id = ${text(accountId)}
  AND id IN (SELECT arrayJoin(${textList(ids)}))`,
  )
}

/**
 * All acceptances of server events by their ids, of any age; rows that a merge will collapse are returned separately. The
 * primary key finds the granules of the ids, and their hashes are read before the ids, which take five times as many bytes.
 * @param wanted at least one
 * @returns rows `accountId`, `id`, `generation`, `receivedAtMs`
 */
export function acceptancesSql(wanted: readonly OwnedId[]): Fragment {
  return perAccount(
    wanted,
    (accountId, ids) => ch`
WITH ${textList(ids)} AS ids
SELECT account_id AS accountId, id, generation, toUnixTimestamp64Milli(received_at) AS receivedAtMs
FROM pixel_events
PREWHERE id_hash IN (SELECT sipHash64(arrayJoin(ids)))
WHERE account_id = ${text(accountId)}
  AND origin = 'server'
  AND id IN (SELECT arrayJoin(ids))`,
  )
}

function perAccount(
  wanted: readonly OwnedId[],
  select: (accountId: string, ids: readonly string[]) => Fragment,
): Fragment {
  const idsOf = new Map<string, string[]>()
  for (const { accountId, id } of wanted) {
    const ids = idsOf.get(accountId)
    if (ids) ids.push(id)
    else idsOf.set(accountId, [id])
  }
  return join(
    [...idsOf].map(([accountId, ids]) => select(accountId, ids)),
    '\nUNION ALL\n',
  )
}
