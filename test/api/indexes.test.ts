import { beforeAll, describe, expect, it } from 'vitest'
import type { ReportQuery } from '../../schema/report.ts'
import { newestSql, oldestFirstSql } from '../../src/api/clicks/page.ts'
import { planClicks } from '../../src/api/clicks/routes.ts'
import { planReport } from '../../src/api/reports/plan.ts'
import { reportSql } from '../../src/api/reports/sql.ts'
import { planDaily } from '../../src/api/stats/stats.ts'
import type { FactsPlan } from '../../src/query/facts/plan.ts'
import { factsSettings, groupedSums } from '../../src/query/facts/sql.ts'
import type { Fragment } from '../../src/stores/clickhouse/sql.ts'
import { callerOf } from '../kit/accounts.ts'
import { testNowMs, useTestApp } from '../kit/app.ts'
import { explain, storeClicks, storeConversions } from '../kit/rows.ts'

const granules = 40
const [caller, reporting] = [callerOf('acme'), callerOf('reporting')]

const api = useTestApp()

beforeAll(async () => {
  // Every granule has 1,024 visitors, the same 50 placements, and empty sub ids; one click has `rare` in sub7.
  await api.stores.clickhouse.client.command({
    query: `
      INSERT INTO clicks (account_id, clicked_at, id, visitor_id, sub1, sub7)
      SELECT 'acme', toDateTime64('2026-11-10 00:00:00', 3, 'UTC') + number, leftPad(toString(number), 6, '0'),
        concat('visitor-', toString(number)), concat('placement-', toString(number % 50)), if(number = 12345, 'rare', '')
      FROM numbers(${granules * 1024})`,
  })
  // Without rows ClickHouse plans no reading.
  await storeClicks(api.stores, 'reporting', [{ id: 'c1', clicked_at: '2026-11-20 10:00:00.000' }])
  await storeConversions(api.stores, 'reporting', [{ id: 'v1', converted_at: '2026-11-20 11:00:00.000' }])
})

/** Granules of clicks that a query reads on all nodes, and whether the index was used. */
async function granulesOf(sql: Fragment): Promise<{ read: number; total: number; isIndexed: boolean }> {
  const found = { read: 0, total: 0, isIndexed: false }
  // The plan of a node contains the granules of its own table.
  const { clickhouse } = api.stores
  for (const { client } of clickhouse.cluster?.nodes ?? [clickhouse]) {
    const plan = await explain(client, 'indexes = 1', sql)
    const [, read, total] = /Name: ids_index.*?Granules: (\d+)\/(\d+)/s.exec(plan) ?? []
    found.read += Number(read ?? granules)
    found.total += Number(total ?? granules)
    found.isIndexed ||= read !== undefined
  }
  return found
}

const page = (filter: object) => newestSql(planClicks(filter, caller, testNowMs), undefined, 201)
const ascending = (filter: object) => oldestFirstSql(planClicks({ ...filter, order: 'asc' }, caller, testNowMs), 201)
const report = (filter: object) =>
  reportSql(planReport({ group_by: 'country', days: 30, ...filter } as ReportQuery, caller, testNowMs))

describe('the index of visitors and sub ids', () => {
  it.each([
    ['a page', page, { visitor_id: 'visitor-7' }],
    ['a page', page, { sub7: 'rare,absent' }],
    ['a list in ascending order', ascending, { visitor_id: 'visitor-7' }],
    ['a list in ascending order', ascending, { sub7: 'rare' }],
    ['a report', report, { sub7: 'rare' }],
  ])('skips granules without the value in %s', async (_name, sqlOf, filter) => {
    // The filter has false positives: one granule in a hundred for each value.
    expect((await granulesOf(sqlOf(filter))).read).toBeLessThanOrEqual(5)
  })

  it('reads every granule that may have the value', async () => {
    for (const filter of [{ sub1: 'placement-1' }, { sub1: '!placement-1' }, { sub7: 'rare,(not set)' }]) {
      const { read, total } = await granulesOf(page(filter))
      expect(read).toBe(total)
      expect(total).toBeGreaterThanOrEqual(granules)
    }
  })

  it('is not read for values that are excluded or empty', async () => {
    for (const filter of [{ visitor_id: '!visitor-1' }, { sub7: '(not set)' }]) {
      const { isIndexed } = await granulesOf(page(filter))
      expect([filter, isIndexed]).toEqual([filter, false])
    }
  })
})

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
  const plan = planReport(query as ReportQuery, reporting, testNowMs)
  expect(await keysOf(reportSql(plan), plan.facts)).toEqual(expected)
})

it.each([
  ['', {}],
  [', also of a range that ends within a quarter of an hour', { from: '2026-11-18T00:01:00Z' }],
  [', also if conversions count at their click', { count_at: 'click' as const }],
])(
  'a report reads by the primary key of sums_by_quarter_hour, from its projection if it has no campaign%s',
  async (_name, more) => {
    const { facts } = planDaily({ tz: 'Asia/Kathmandu', ...more }, reporting, testNowMs)
    const { client } = api.stores.clickhouse
    const plan = await explain(client, 'indexes = 1', groupedSums(facts).statement, factsSettings(facts))
    expect(plan).toContain('by_account')
  },
)
