import { ch, count, type Fragment, render, text } from '../src/sql/fragment.ts'
import type { Stores } from '../src/stores/open.ts'

/** The account that questions are put to; four others, each a tenth of its size, lie beside it in every table. */
export const benchAccount = 'bench'
const accountIds = [benchAccount, 'bench-b', 'bench-c', 'bench-d', 'bench-e']

/** The moment after the generated year; questions are asked as if it were now. */
export const benchNowMs = Date.UTC(2026, 10, 20, 12)
const days = 365

const campaigns = 60
const offers = 200
const landingPages = 120
const trafficSources = 25

/** Rows a statement: one block, as an import would send it, only larger. */
const chunkRows = 500_000

/**
 * Fills the stores with believable clicks of a year: campaigns and countries as unequal as real ones, 1 % conversions
 * of which a third changed status later. The same size gives the same rows; stores that hold them are left as they are.
 * @param size clicks of `benchAccount`
 * @throws Error when the stores hold another number of clicks
 */
export async function fillStores(stores: Stores, size: number, say: (line: string) => void): Promise<void> {
  await fillMetadata(stores)
  for (const accountId of accountIds) {
    const rows = accountId === benchAccount ? size : Math.round(size / 10)
    const stored = await countOf(stores, accountId)
    if (stored === rows) continue
    if (stored > 0) throw new Error(`${accountId} holds ${stored} clicks, not ${rows}: remove the folder.`)
    for (let first = 0; first < rows; first += chunkRows) {
      await run(stores, clicksSql(accountId, first, Math.min(chunkRows, rows - first), rows))
      say(`${accountId}: ${Math.min(first + chunkRows, rows)} of ${rows} clicks`)
    }
    await run(stores, conversionsSql(accountId, 1))
    await run(stores, conversionsSql(accountId, 2))
  }
}

async function countOf({ clickhouse }: Stores, accountId: string): Promise<number> {
  const answer = await clickhouse.client.query({
    query: 'SELECT count() AS n FROM clicks WHERE account_id = {accountId:String}',
    query_params: { accountId },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ n: string }>()
  return Number(row?.n)
}

async function run({ clickhouse }: Stores, statement: Fragment): Promise<void> {
  const { text: query, params } = render(statement)
  await clickhouse.client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      max_insert_threads: '1',
      max_partitions_per_insert_block: '0',
      min_insert_block_size_rows: '1000000',
    },
  })
}

/** The n-th click lies n/rows through the year; everything else follows from a hash of n. */
function clicksSql(accountId: string, first: number, rows: number, all: number): Fragment {
  const sinceMs = benchNowMs - days * 86_400_000
  return ch`
INSERT INTO clicks (account_id, clicked_at, id, campaign_id, offer_id, landing_page_id, traffic_source_id, visitor_id,
  country, region, city, device, os, os_version, browser, browser_version, language, referrer, user_agent, ip, sub1,
  sub2, external_click_id, utm_source, utm_campaign, cost, currency, cost_base, is_bot, is_test)
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
  if((bitShiftRight(h, 6)) % 2 = 0, concat('gcl.', hex(h)), ''),
  concat('source', toString((campaign + (bitShiftRight(h, 32)) % 4) % ${count(trafficSources)})),
  concat('campaign_', toString(campaign)),
  amount, 'USD', amount,
  (bitShiftRight(h, 9)) % 50 = 0,
  (bitShiftRight(h, 13)) % 1000 = 0
FROM numbers(${count(first)}, ${count(rows)})`
}

/** Every hundredth click converts within three days, pending or approved; a third of them change status later. */
function conversionsSql(accountId: string, version: 1 | 2): Fragment {
  const isFirst = version === 1
  const state = isFirst
    ? ch`if((bitShiftRight(h, 4)) % 2 = 0, 'pending', 'approved')`
    : ch`if((bitShiftRight(h, 4)) % 2 = 0, ['approved', 'declined', 'hold'][1 + (bitShiftRight(h, 30)) % 3], if((bitShiftRight(h, 30)) % 4 = 0, 'chargeback', 'refunded'))`
  return ch`
INSERT INTO conversions (account_id, converted_at, id, version, source, status, external_status, event_name, clicked_at,
  created_at, updated_at, click_id, click_at, visitor_id, transaction_id, campaign_id, offer_id, landing_page_id,
  traffic_source_id, country, device, os, browser, sub1, sub2, payout, revenue, currency, revenue_base, coupon_code)
WITH
  sipHash64(id) AS h,
  clicked_at + toIntervalSecond((bitShiftRight(h, 8)) % 259200) AS moment,
  toDecimal64(5 + ((bitShiftRight(h, 20)) % 10000) / 100., 2) AS amount,
  ${state} AS state
SELECT account_id, moment, concat('cnv_', id), ${count(version)}, if(h % 5 = 0, 'revenue', 'cpa'), state, upper(state),
  'purchase', clicked_at, moment, moment + toIntervalDay(${count(isFirst ? 0 : 4)}), id, clicked_at, visitor_id,
  concat('txn-', hex(h)), campaign_id, offer_id, landing_page_id, traffic_source_id, country, device, os, browser,
  sub1, sub2, amount, amount, 'USD', amount, if((bitShiftRight(h, 34)) % 10 = 0, concat('SAVE', toString((bitShiftRight(h, 40)) % 50)), '')
FROM clicks
WHERE account_id = ${text(accountId)}
  AND h % 100 = 7${isFirst ? ch`` : ch` AND (bitShiftRight(h, 44)) % 3 = 0`}
  AND NOT is_bot AND NOT is_test`
}

async function fillMetadata({ postgres }: Stores): Promise<void> {
  for (const accountId of accountIds) {
    await postgres`
      INSERT INTO accounts (id, name, plan, currency) VALUES (${accountId}, ${accountId}, 'scale', 'USD')
      ON CONFLICT DO NOTHING`
    for (const [table, prefix, rows] of [
      ['campaigns', 'cmp', campaigns],
      ['offers', 'off', offers],
      ['landing_pages', 'lp', landingPages],
      ['traffic_sources', 'src', trafficSources],
    ] as const) {
      const values = Array.from({ length: rows }, (_, number) => ({
        account_id: accountId,
        id: `${prefix}-${number}`,
        name: `${prefix} number ${number}`,
        status: 'active',
        created_at: new Date(benchNowMs - number * 1000),
        updated_at: new Date(benchNowMs),
        ...(table === 'campaigns' && { user_id: accountId }),
      }))
      await postgres`INSERT INTO ${postgres(table)} ${postgres(values)} ON CONFLICT DO NOTHING`
    }
  }
}
