import { searchTextOf } from '../src/query/searchText.ts'
import { keepAliveSettings } from '../src/stores/clickhouse/client.ts'
import { ch, count, type Fragment, identifier, render, text } from '../src/stores/clickhouse/sql.ts'
import type { Stores } from '../src/stores/open.ts'
import { countOf, settled } from './stores.ts'

/** The account that is read. Four other accounts, each a tenth of its size, are in the same tables. */
export const benchAccount = 'bench'
/** One of the others. */
export const otherAccount = 'bench-b'
/** An account with about a million conversions of clicks of `benchAccount`, for searches. */
export const searchedAccount = 'bench-searched'
const searchedConversions = 1_000_000
const accountIds = [benchAccount, otherAccount, 'bench-c', 'bench-d', 'bench-e']

/** The present time of the reads: the end of the generated year. */
export const benchNowMs = Date.UTC(2026, 10, 20, 12)
const days = 365

const campaigns = 60
const offers = 200
const landingPages = 120
const trafficSources = 25
const clicksAConversion = 100

/** Rows per statement: one block, larger than the blocks of an import. */
const chunkRows = 500_000

/**
 * Fills the stores with realistic clicks of a year: campaigns and countries of different sizes, 1 % conversions. A
 * third of the conversions changed status later. The same size gives the same rows; filled stores stay unchanged.
 * @param size clicks of `benchAccount`
 * @throws Error when the stores contain another number of clicks
 */
export async function fillStores(stores: Stores, size: number): Promise<void> {
  for (const accountId of accountIds) {
    await fillClicks(stores, accountId, accountId === benchAccount ? size : Math.round(size / 10))
    if ((await countOf(stores, 'conversions', accountId)) === 0) {
      await convert(stores, { from: accountId, to: accountId, oneIn: clicksAConversion })
    }
    if ((await countOf(stores, 'converted_click_rows', accountId)) === 0) await run(stores, copiesSql(accountId))
  }
  if ((await countOf(stores, 'conversions', searchedAccount)) > 0) return
  const oneIn = Math.max(1, Math.round(size / searchedConversions))
  await convert(stores, { from: benchAccount, to: searchedAccount, oneIn })
}

/**
 * Fills the accounts with metadata, and one of them with such clicks, without conversions.
 * @throws Error when the account has another number of clicks
 */
export async function fillClicks(stores: Stores, accountId: string, rows: number): Promise<void> {
  await fillMetadata(stores)
  const stored = await countOf(stores, 'clicks', accountId)
  if (stored !== 0 && stored !== rows) {
    throw new Error(`${accountId} has ${stored} clicks instead of ${rows}: remove the folder.`)
  }
  const { client } = stores.clickhouse
  const chunk = 'bench_chunk'
  for (let first = stored; first < rows; first += chunkRows) {
    await client.command({ query: `CREATE OR REPLACE TABLE ${chunk} AS clicks` })
    await run(stores, clicksSql(chunk, accountId, first, Math.min(chunkRows, rows - first), rows))
    await run(stores, ch`INSERT INTO clicks SELECT * FROM ${identifier(chunk)}`)
    await client.command({ query: `DROP TABLE ${chunk}` })
    console.log(`${accountId}: ${Math.min(first + chunkRows, rows)} of ${rows} clicks`)
  }
}

/** Prefix of the ids of the accounts of a feed, which are numbered from 1. */
export const feedPrefix = 'feed-'

/**
 * Fills accounts of a feed with clicks of the last 60 days, with random ids. A tenth of the accounts have half of the clicks.
 * A run with the same folder continues an interrupted one.
 */
export async function fillFeed(stores: Stores, accounts: number, clicks: number): Promise<void> {
  await stores.postgres`
    INSERT INTO accounts (id, name, plan, currency)
    SELECT ${feedPrefix}::text || n, 'Feed', 'scale', 'USD' FROM generate_series(1, ${accounts}) AS n
    ON CONFLICT DO NOTHING`
  const stored = await countOf(stores, 'clicks')
  if (stored >= clicks) return
  const large = accounts / 10
  const chunk = 'bench_chunk'
  for (let first = stored; first < clicks; first += chunkRows) {
    const rows = Math.min(chunkRows, clicks - first)
    await stores.clickhouse.client.command({ query: `CREATE OR REPLACE TABLE ${chunk} AS clicks` })
    await run(stores, clicksSql(chunk, benchAccount, first, rows, clicks))
    const number = ch`2 * (${count(first)} + rowNumberInAllBlocks()) / ${count(clicks)}`
    await run(
      stores,
      ch`
INSERT INTO clicks
SELECT * REPLACE (
  concat(${text(feedPrefix)}, toString(1 + toUInt32(${number} < 1
    ? ${number} * ${count(large)} : ${count(large)} + (${number} - 1) * ${count(accounts - large)}))) AS account_id,
  toString(generateUUIDv4()) AS id,
  now64(3) - toIntervalSecond(3600 + sipHash64(id) % 5184000) AS clicked_at)
FROM ${identifier(chunk)}
SETTINGS max_threads = 1`,
    )
    console.log(`feed: ${first + rows} of ${clicks} clicks`)
  }
  await stores.clickhouse.client.command({ query: `DROP TABLE ${chunk}` })
  // As in a store that has existed for long: otherwise a short run measures merges of the generated rows.
  for (const table of ['clicks', 'click_index', 'sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour']) {
    const query = `OPTIMIZE TABLE ${table} FINAL SETTINGS optimize_skip_merged_partitions = 1`
    // ClickHouse sends nothing while it merges, so the client gives up before the end.
    await stores.clickhouse.client.command({ query }).catch(() => {})
    await settled(stores)
  }
}

/** @param blockRows rows of one part; while a part is written, ClickHouse sends nothing, and the client waits for 30 s */
async function run({ clickhouse }: Stores, statement: Fragment, blockRows = 1_000_000): Promise<void> {
  const { text: query, params } = render(statement)
  await clickhouse.client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      max_insert_threads: '1',
      max_partitions_per_insert_block: '0',
      min_insert_block_size_rows: `${blockRows}`,
      ...keepAliveSettings,
    },
  })
}

/** The n-th click is at n/rows of the year; all other values are derived from a hash of n. */
function clicksSql(table: string, accountId: string, first: number, rows: number, all: number): Fragment {
  const sinceMs = benchNowMs - days * 86_400_000
  return ch`
INSERT INTO ${identifier(table)} (account_id, clicked_at, id, campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id,
  country, region, city, device, os, os_version, browser, browser_version, language, referrer, user_agent, ip, sub1,
  sub2, sub3, external_click_id, utm_source, utm_campaign, cost, currency, cost_base, is_bot, is_test)
WITH
  sipHash64(number, ${text(accountId)}) AS h,
  toUInt32(pow((h % 10000) / 10000., 3) * ${count(campaigns)}) AS campaign,
  ['US','DE','GB','FR','IN','BR','ES','IT','CA','AU','JP','MX','NL','PL','SE','AR','TR','ZA','ID','TH','VN','PH','MY',
   'SG','KR','UA','RO','GR','PT','CZ','HU','AT','CH','BE','DK','NO','FI','IE','NZ','CL','CO','PE','EG','NG','KE','MA',
   'SA','AE','IL','PK','BD','LK','NP','KZ','BG','RS','HR','SK','SI','LT'] AS countries,
  countries[1 + toUInt32(pow(((bitShiftRight(h, 8)) % 10000) / 10000., 2.5) * 60)] AS country_code,
  (bitShiftRight(h, 16)) % 100 AS device_draw,
  (bitShiftRight(h, 48)) % 100 AS browser_draw,
  toDecimal64(0.02 + ((bitShiftRight(h, 20)) % 1000) / 2000., 4) AS amount
SELECT
  ${text(accountId)},
  fromUnixTimestamp64Milli(toInt64(${count(sinceMs)} + intDiv(number * ${count(days * 86_400_000)}, ${count(all)})), 'UTC'),
  concat('clk_', lower(hex(toUInt32(number))), lower(hex(toUInt32(h)))),
  concat('cmp-', toString(campaign)),
  concat('off-', toString((campaign * 7 + (bitShiftRight(h, 24)) % 12) % ${count(offers)})),
  concat('lp-', toString((campaign * 3 + (bitShiftRight(h, 28)) % 6) % ${count(landingPages)})),
  concat('src-', toString((campaign + (bitShiftRight(h, 32)) % 4) % ${count(trafficSources)})),
  concat('vis_', hex(sipHash64(number % (intDiv(${count(all)} * 7, 10) + 1)))),
  country_code,
  concat('R', toString((bitShiftRight(h, 36)) % 20)),
  concat('City ', toString((bitShiftRight(h, 40)) % 2000)),
  multiIf(device_draw < 58, 'mobile', device_draw < 93, 'desktop', device_draw < 99, 'tablet', 'other'),
  multiIf(device_draw < 34, 'Android', device_draw < 58, 'iOS', device_draw < 82, 'Windows', device_draw < 93, 'macOS',
    device_draw < 96, 'iPadOS', 'Linux'),
  toString(10 + (bitShiftRight(h, 44)) % 8),
  multiIf(browser_draw < 62, 'Chrome', browser_draw < 82, 'Safari', browser_draw < 90, 'Edge', browser_draw < 96,
    'Firefox', 'Opera'),
  toString(110 + (bitShiftRight(h, 50)) % 30),
  lower(concat(country_code, '-', country_code)),
  concat('https://www.example-', toString((bitShiftRight(h, 52)) % 500), '.com/article/', toString((bitShiftRight(h, 12)) % 20000)),
  concat('Mozilla/5.0 (device ', toString((bitShiftRight(h, 16)) % 400), ') AppleWebKit/537.36 Chrome/', toString(110 + (bitShiftRight(h, 50)) % 30)),
  concat(toString(1 + (bitShiftRight(h, 3)) % 222), '.', toString((bitShiftRight(h, 11)) % 255), '.', toString((bitShiftRight(h, 19)) % 255), '.0'),
  concat('placement-', toString((bitShiftRight(h, 5)) % 3000)),
  concat('creative-', toString((bitShiftRight(h, 7)) % 80)),
  if(number % 100000 = 77777, 'rare', ''),
  if((bitShiftRight(h, 6)) % 2 = 0, concat('gcl.', hex(h)), ''),
  concat('source', toString((campaign + (bitShiftRight(h, 32)) % 4) % ${count(trafficSources)})),
  concat('campaign_', toString(campaign)),
  amount, 'USD', amount,
  (bitShiftRight(h, 9)) % 50 = 0,
  (bitShiftRight(h, 13)) % 1000 = 0
FROM numbers(${count(first)}, ${count(rows)})`
}

/** Conversions of one click in `oneIn` of the account `from`, stored in the account `to`. */
interface ConversionShare {
  from: string
  to: string
  oneIn: number
}

async function convert(stores: Stores, share: ConversionShare): Promise<void> {
  for (const version of [1, 2] as const) await run(stores, conversionsSql(share, version), 25_000)
}

/**
 * A click converts within three days, pending or approved. A third of the conversions change status later: as in an
 * import, the first row is inserted again as deleted, with the new row.
 */
function conversionsSql({ from, to, oneIn }: ConversionShare, version: 1 | 2): Fragment {
  const isFirst = version === 1
  const firstState = ch`if((bitShiftRight(h, 4)) % 2 = 0, 'pending', 'approved')`
  const laterState = ch`if((bitShiftRight(h, 4)) % 2 = 0, ['approved', 'declined', 'hold'][1 + (bitShiftRight(h, 30)) % 3], if((bitShiftRight(h, 30)) % 4 = 0, 'chargeback', 'refunded'))`
  const deletionMarks = isFirst ? ch`[0]` : ch`[1, 0]`
  return ch`
INSERT INTO conversions (account_id, converted_at, id, version, is_deleted, source, status, external_status, event_name, clicked_at,
  created_at, updated_at, click_id, click_at, click_campaign_id, click_offer_id, click_external_id, click_referrer,
  click_region, click_city, click_os_version, click_browser_version, click_language, click_utm_source,
  click_utm_campaign, visitor_id, transaction_id, campaign_id, offer_id, landing_page_id, traffic_source_id, country, device, os, browser,
  sub1, sub2, payout, revenue, currency, revenue_base, coupon_code)
WITH
  sipHash64(id) AS h,
  clicked_at + toIntervalSecond((bitShiftRight(h, 8)) % 259200) AS moment,
  toDecimal64(5 + ((bitShiftRight(h, 20)) % 10000) / 100., 2) AS amount,
  ${isFirst ? firstState : ch`if(is_deleted, ${firstState}, ${laterState})`} AS state
SELECT ${text(to)}, moment, concat('cnv_', id), 2 * ${count(version)} - is_deleted, is_deleted, if(h % 5 = 0, 'revenue', 'cpa'), state, upper(state),
  'purchase', clicked_at, moment, moment + toIntervalDay(${count(isFirst ? 0 : 4)}), id, clicked_at, campaign_id,
  offer_id, external_click_id, referrer, region, city, os_version, browser_version, language, utm_source,
  utm_campaign, visitor_id,
  concat('txn-', hex(h)), campaign_id, offer_id, landing_page_id, traffic_source_id, country, device, os, browser,
  sub1, sub2, amount, amount, 'USD', amount, if((bitShiftRight(h, 34)) % 10 = 0, concat('SAVE', toString((bitShiftRight(h, 40)) % 50)), '')
FROM clicks
ARRAY JOIN ${deletionMarks} AS is_deleted
WHERE account_id = ${text(from)}
  AND h % ${count(oneIn)} = ${count(7 % oneIn)}${isFirst ? ch`` : ch` AND (bitShiftRight(h, 44)) % 3 = 0`}
  AND NOT is_bot AND NOT is_test`
}

/** The copies of clicks with conversions that an import makes. */
function copiesSql(accountId: string): Fragment {
  const account = ch`account_id = ${text(accountId)}`
  return ch`
INSERT INTO converted_click_rows
SELECT *
FROM clicks
WHERE ${account}
  AND (clicked_at, id) IN (SELECT clicked_at, click_id FROM converted_clicks WHERE ${account})`
}

async function fillMetadata({ postgres }: Stores): Promise<void> {
  for (const accountId of [...accountIds, searchedAccount]) {
    await postgres`
      INSERT INTO accounts (id, name, plan, currency) VALUES (${accountId}, ${accountId}, 'scale', 'USD')
      ON CONFLICT DO NOTHING`
    for (const [table, prefix, rows] of [
      ['campaigns', 'cmp', campaigns],
      ['offers', 'off', offers],
      ['landing_pages', 'lp', landingPages],
      ['traffic_sources', 'src', trafficSources],
    ] as const) {
      const namesOf = (number: number) => {
        return { id: `${prefix}-${number}`, name: `${prefix} number ${number}`, status: 'active' }
      }
      const values = Array.from({ length: rows }, (_, number) => ({
        account_id: accountId,
        ...namesOf(number),
        created_at: new Date(benchNowMs - number * 1000),
        updated_at: new Date(benchNowMs),
        ...(table === 'campaigns' && { user_id: accountId }),
        ...((table === 'campaigns' || table === 'offers') && { search_text: searchTextOf(namesOf(number)) }),
      }))
      await postgres`INSERT INTO ${postgres(table)} ${postgres(values)} ON CONFLICT DO NOTHING`
    }
  }
}
