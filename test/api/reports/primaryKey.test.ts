import { beforeAll, expect, it } from 'vitest'
import type { ReportQuery } from '../../../schema/report.ts'
import { planReport, reportSql } from '../../../src/api/reports/report.ts'
import { planDaily } from '../../../src/api/stats/stats.ts'
import type { FactsPlan } from '../../../src/query/facts/plan.ts'
import { factsSettings, groupedSums } from '../../../src/query/facts/sql.ts'
import type { Fragment } from '../../../src/stores/clickhouse/sql.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { explain, storeClicks, storeConversions } from '../../kit/rows.ts'

const api = useTestApp()

beforeAll(async () => {
  // Without rows ClickHouse plans no reading.
  await storeClicks(api.stores, 'acme', [{ id: 'c1', clicked_at: '2026-11-20 10:00:00.000' }])
  await storeConversions(api.stores, 'acme', [{ id: 'v1', converted_at: '2026-11-20 11:00:00.000' }])
})

const caller = { accountId: 'acme', currency: 'USD', retained: { clicksMs: 0, eventsMs: 0 }, freshness: {} }

/** The columns of the primary key that each table of a query is read by. */
async function keysOf(sql: Fragment, of: FactsPlan): Promise<string[]> {
  const plan = await explain(api.stores.clickhouse.client, 'indexes = 1, json = 1', sql, factsSettings(of))
  const keys = [...plan.matchAll(/"Type": "PrimaryKey",\s*"Keys": \[([^\]]*)\]/g)]
  return [...new Set(keys.map(([, columns = '']) => columns.replace(/[\s"]/g, '')))].sort()
}

it.each([
  ['sums_by_day', { group_by: 'country,day', country: 'US' }, ['account_id,dimension,day,value']],
  ['sums_by_day_and_campaign', { group_by: 'campaign,country' }, ['account_id,dimension,day']],
  [
    'sums_by_day_and_campaign of one campaign',
    { group_by: 'country', campaign_id: 'k1' },
    ['account_id,dimension,campaign_id,day'],
  ],
  ['sums_by_quarter_hour', { group_by: 'campaign,hour', days: 7 }, ['account_id,bucket']],
  ['rows', { group_by: 'country,device,city', days: 7 }, ['account_id,clicked_at', 'account_id,converted_at']],
])('a report reads by the primary key of %s', async (_table, query, expected) => {
  const plan = planReport(query as ReportQuery, caller, testNowMs)
  expect(await keysOf(reportSql(plan), plan.facts)).toEqual(expected)
})

it.each([
  ['', {}],
  [', also of a range that ends within a quarter of an hour', { from: '2026-11-18T00:01:00Z' }],
  [', also if conversions count at their click', { count_at: 'click' as const }],
])(
  'a report reads by the primary key of sums_by_quarter_hour, from its projection if it has no campaign%s',
  async (_name, more) => {
    const { facts } = planDaily({ tz: 'Asia/Kathmandu', ...more }, caller, testNowMs)
    const { client } = api.stores.clickhouse
    const plan = await explain(client, 'indexes = 1', groupedSums(facts).statement, factsSettings(facts))
    expect(plan).toContain('by_account')
  },
)
