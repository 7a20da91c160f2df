import { ch, type Fragment, join, text, texts } from '../../stores/clickhouse/sql.ts'

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
  AND id IN ${texts(ids)}`,
  )
}

/**
 * All acceptances of server events by their ids, of any age; rows that a merge will collapse are returned separately.
 * @param wanted at least one
 * @returns rows `accountId`, `id`, `generation`, `receivedAtMs`
 */
export function acceptancesSql(wanted: readonly OwnedId[]): Fragment {
  return perAccount(
    wanted,
    (accountId, ids) => ch`
SELECT account_id AS accountId, id, generation, toUnixTimestamp64Milli(received_at) AS receivedAtMs
FROM pixel_events
WHERE account_id = ${text(accountId)}
  AND origin = 'server'
  AND id IN ${texts(ids)}`,
  )
}

/** ClickHouse rejects a form field above 128 KiB; an id has at most 128 bytes, plus quotes and a comma. */
const idsPerSelect = 1_000

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
  const selects: Fragment[] = []
  for (const [accountId, ids] of idsOf) {
    for (let first = 0; first < ids.length; first += idsPerSelect) {
      selects.push(select(accountId, ids.slice(first, first + idsPerSelect)))
    }
  }
  return join(selects, '\nUNION ALL\n')
}
