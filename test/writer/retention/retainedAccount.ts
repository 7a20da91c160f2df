import type { Writer } from '../../../src/writer/fence/session.ts'
import { rowsOfAccount, storeRows } from '../../feed/openFeed.ts'
import { rowsOf } from '../../import/runImport.ts'
import { own } from '../../properties/lives.ts'

/** Two months before it are January and February 2025, which have rows. */
export const removalMs = Date.UTC(2025, 3, 15, 12)

const click = (id: string, month: string, more: object = {}) => ({
  id,
  clickedAt: `2025-${month}-10T10:20:00.000Z`,
  campaignId: 'k1',
  country: 'FR',
  device: 'mobile',
  offerId: 'o1',
  landingPageId: 'l1',
  visitorId: `visitor-${id}`,
  region: `region-${id}`,
  cost: 0.25,
  subIds: { sub1: 'a' },
  ...more,
})
const conversion = (id: string, month: string, more: object = {}) => ({
  id,
  convertedAt: `2025-${month}-12T10:00:00.000Z`,
  status: 'approved',
  revenueBase: 7,
  ...more,
})
const event = (id: string, month: string, more: object = {}) => {
  const at = `2025-${month}-11T10:00:00.000Z`
  return { id, eventName: 'signup', occurredAt: at, receivedAt: at, ...more }
}

/** Rows of January, February and March 2025; more in January. */
export const rows = {
  campaigns: [
    { id: 'k1', name: 'K1' },
    { id: 'k2', name: 'K2' },
  ],
  clicks: [
    click('c1', '01'),
    click('c2', '01', { campaignId: 'k2', country: 'DE' }),
    click('bot', '01', { isBot: true }),
    click('edge', '01', { clickedAt: '2025-01-31T23:59:59.999Z' }),
    click('c3', '02', { clickedAt: '2025-02-01T00:00:00.000Z' }),
    click('c4', '03', { country: 'DE' }),
  ],
  conversions: [
    conversion('v1', '01', { clickId: 'c1' }),
    // With values of its own, which a later change leaves to the click.
    conversion('v2', '03', { clickId: 'c2', status: 'pending', ...own }),
    conversion('v3', '03', { clickId: 'c4' }),
    conversion('v4', '01', { campaignId: 'k1', country: 'FR' }),
  ],
  costs: [
    { id: 'x1', spentAt: '2025-01-10T00:00:00.000Z', campaignId: 'k1', country: 'FR', cost: 3.5 },
    { id: 'x2', spentAt: '2025-01-31T23:59:59.999Z', cost: 1 },
    { id: 'x3', spentAt: '2025-02-01T00:00:00.000Z', campaignId: 'k1', cost: 2 },
  ],
  'pixel-events': [
    event('e1', '01', { clickId: 'c1' }),
    event('e2', '02', { clickId: 'c3' }),
    event('e3', '03', { clickId: 'c4', properties: { plan: 'pro' } }),
  ],
}

export async function storeRetained(stores: Writer['stores'], ...accounts: string[]): Promise<void> {
  const costs = rows.costs.map((row) => ({ updatedAt: row.spentAt, ...row }))
  const sent = accounts.flatMap((id) => rowsOfAccount(id, { ...rows, costs }))
  await storeRows(stores, sent)
}

const rowTables =
  'clicks converted_click_rows conversions costs pixel_events click_index cost_index converted_clicks'.split(' ')
const sums = {
  sums_by_day: 'dimension, day, value',
  sums_by_day_and_campaign: 'dimension, campaign_id, day, value',
  sums_by_quarter_hour: 'bucket, campaign_id',
}

/** Every row of an account in ClickHouse, without its id, times of storage and versions. */
export async function contentOf(stores: Writer['stores'], account: string): Promise<string> {
  const found: object[] = []
  for (const table of rowTables) {
    const without = ['pixel_events', 'click_index', 'cost_index', 'converted_clicks'].includes(table)
      ? 'account_id'
      : 'account_id, stored_at'
    const more = {
      conversions: ', version',
      costs: ', version',
      cost_index: ', version',
      converted_clicks: ', version',
      pixel_events: ', stored_at, user_id',
    }
    const omitted = `${without}${more[table as keyof typeof more] ?? ''}`
    const query = `SELECT * EXCEPT (${omitted}) FROM ${table} FINAL WHERE account_id = '${account}' ORDER BY ALL`
    found.push({ table, rows: await rowsOf(stores, query) })
  }
  // Added up: on a cluster a key has a row on each node. A merge removes sums that are all zero.
  for (const [table, keys] of Object.entries(sums)) {
    const query = `
      SELECT ${keys}, COLUMNS('clicks|conversions|revenue|cost') APPLY(sum) FROM ${table} WHERE account_id = '${account}'
      GROUP BY ${keys} ORDER BY ALL`
    found.push({ table, rows: (await rowsOf<object>(stores, query)).filter(hasSum) })
  }
  return JSON.stringify(found)
}

function hasSum(row: object): boolean {
  return Object.entries(row).some(([name, sum]) => name.startsWith('sum(') && Number(sum) !== 0)
}

export async function storedRowsOf(stores: Writer['stores'], account: string): Promise<string> {
  const found: unknown[] = []
  for (const table of [...rowTables, ...Object.keys(sums)])
    found.push(await rowsOf(stores, `SELECT * FROM ${table} FINAL WHERE account_id = '${account}' ORDER BY ALL`))
  return JSON.stringify(found)
}
