import type { Stores } from '../../src/stores/open.ts'
import { createLoadAccount, loadAccountId } from '../faults/loadAccount.ts'
import { makeAccountWithKey, makeKey } from '../kit/accounts.ts'

export type Accounts = Awaited<ReturnType<typeof fillAccounts>>

const unseenMax = 1_000
const stallingAccounts = 6
/** About 35 MB as NDJSON: more than the socket buffers of a client that reads nothing. */
const clicksPerExport = 50_000
const campaignCount = 60_000
/** Half of them in the last 30 days, and others with the same texts in the 30 days before. */
const longClicks = 6_000
/** More than a page has. */
const longCampaigns = 100
/** Accounts `fed-0`, `fed-1`, … whose rows a feed stores. */
export const fedAccounts = 20

/** Stores the accounts and their rows, with limits that no load reaches. @returns keys of them */
export async function fillAccounts(stores: Stores) {
  // It has the rows that `readPaths` and events refer to.
  const regular = await createLoadAccount(stores)
  // Keys of the same account that the server has not cached.
  const unseen: string[] = []
  while (unseen.length < unseenMax) unseen.push((await makeKey(stores, loadAccountId)).key)
  // Keys of accounts that start exports and do not read them.
  const stalling: string[] = []
  while (stalling.length < stallingAccounts) {
    const id = `stalling-${stalling.length}`
    stalling.push((await makeAccountWithKey(stores, id)).key)
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, clicked_at, id, referrer)
        SELECT {id:String}, now64(3) - number, toString(number), repeat(hex(sipHash128(number)), 4)
        FROM numbers({clicks:UInt32})`,
      query_params: { id, clicks: clicksPerExport },
    })
  }
  for (let number = 0; number < fedAccounts; number++) await makeAccountWithKey(stores, `fed-${number}`)
  // The names of its campaigns are the slowest to search.
  const { key: searching } = await makeAccountWithKey(stores, 'searching')
  await stores.postgres`
    INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
    SELECT 'searching', 'campaign-' || number, repeat('a', 200), 'searching', 'active', now(), now(),
      format('campaign-%sX%sXactive', number, repeat('a', 200))
    FROM generate_series(1, ${campaignCount}::int) AS number`
  await stores.postgres`
    INSERT INTO offers (account_id, id, name, status, affiliate_network, created_at, updated_at, search_text)
    SELECT 'searching', 'offer-with-a-long-id-' || number, 'Offer', 'active', 'Network ' || number % 50, now(), now(), ''
    FROM generate_series(1, ${campaignCount}::int) AS number`
  const { key: long } = await makeAccountWithKey(stores, 'long')
  // Characters of six bytes in JSON, and of two and three bytes in UTF-8.
  const longTexts = ['\\x01', 'é', '語'].map(
    (character) => `rightPadUTF8(toString(number % {half:UInt32}), 8192, '${character}')`,
  )
  for (let stored = 0; stored < longClicks; stored += 500) {
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, clicked_at, id, visitor_id, country, sub1, sub2, sub3)
        SELECT 'long', now64(3) - number - toIntervalDay(30 * (number >= {half:UInt32})), toString(number), 'visitor',
          if(number % 10 = 0, 'DE', 'FR'), ${longTexts.join()}
        FROM numbers({stored:UInt32}, 500)`,
      query_params: { stored, half: longClicks / 2 },
    })
  }
  // Each event has another name, and a property of 8 KiB.
  await stores.clickhouse.client.command({
    query: `INSERT INTO pixel_events (account_id, origin, id, event_name, properties, occurred_at, received_at)
      SELECT 'long', 'server', toString(number), concat('name-', toString(number)),
        concat('{"text":"', rightPad(toString(number), 8192, 'x'), '"}'), now64(3) - number, now64(3) - number
      FROM numbers(10000)`,
  })
  await stores.postgres`
    INSERT INTO campaigns (account_id, id, name, user_id, status, tags, created_at, updated_at, search_text)
    SELECT 'long', 'long-' || number, repeat('é', 8192), 'long', 'active', array_fill(repeat('é', 8192), ARRAY[10]), now(), now(),
      format('long-%sX%sXactive', number, repeat('é', 8192)) || repeat('X' || repeat('é', 8192), 10)
    FROM generate_series(1, ${longCampaigns}::int) AS number`
  const { key: attacking } = await makeAccountWithKey(stores, 'attacking')
  return { regular, unseen, stalling, searching, long, attacking }
}
