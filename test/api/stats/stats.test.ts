// @module-tag node

import { beforeAll, describe, expect, it } from 'vitest'
import { namedTables } from '../../../schema/metadata.ts'
import { StatsDaily, StatsOverview } from '../../../schema/stats.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { storeClicks, storeConversions, storeMetadata } from '../../kit/rows.ts'

// The numbers of any range, zone and filter: test/properties/reports.

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme', { currency: 'EUR' })
  const click = { campaign_id: 'k1', cost_base: 0.1 }
  await storeClicks(api.stores, 'acme', [
    { ...click, id: 'c1', clicked_at: '2026-11-20 18:14:59.999' },
    { ...click, id: 'c2', clicked_at: '2026-11-20 18:15:00.000' },
    { ...click, id: 'c3', clicked_at: '2026-11-21 10:00:00.000', campaign_id: 'k2' },
    { ...click, id: 'future', clicked_at: '2026-11-21 23:59:59.999' },
    { ...click, id: 'tomorrow', clicked_at: '2026-11-22 00:00:00.000' },
    { ...click, id: 'bot', clicked_at: '2026-11-21 10:00:00.000', is_bot: true },
    { ...click, id: 'test', clicked_at: '2026-11-21 10:00:00.000', is_test: true },
  ])
  const conversion = { campaign_id: 'k1', revenue_base: 10 }
  await storeConversions(api.stores, 'acme', [
    { ...conversion, id: 'v1', converted_at: '2026-11-20 18:14:59.999' },
    { ...conversion, id: 'v2', converted_at: '2026-11-20 18:15:00.000', status: 'pending' },
    { ...conversion, id: 'v2', converted_at: '2026-11-20 18:15:00.000', status: 'approved', version: 2 },
    { ...conversion, id: 'v3', converted_at: '2026-11-21 10:00:00.000', status: 'hold', campaign_id: 'k2' },
    { ...conversion, id: 'v4', converted_at: '2026-11-21 10:00:00.000', is_test: true },
  ])
  for (const table of namedTables) {
    await storeMetadata(api.stores, table, 'acme', [
      { id: 'x1', status: table === 'offers' ? 'archived' : 'active' },
      { id: 'x2', status: 'paused' },
      { id: 'x3', status: 'archived' },
    ])
  }
})

const overview = (query = '') => api.read(`/stats/overview?${query}`, key, StatsOverview)
const daily = (query = '') => api.read(`/stats/daily?${query}`, key, StatsDaily)

describe('GET /stats/overview', () => {
  it('sums the time range, including later times of today, and counts resources that are not archived', async () => {
    expect(await overview('days=2')).toEqual({
      from: '2026-11-20T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      tz: 'UTC',
      currency: 'EUR',
      totals: {
        clicks: 4,
        conversions: 2,
        revenue: 20,
        pendingConversions: 0,
        holdConversions: 1,
        declinedConversions: 0,
        refundedConversions: 0,
        pendingRevenue: 10,
        refundedRevenue: 0,
        cost: 0.4,
        profit: 19.6,
        roi: 4900,
        cr: 50,
        epc: 5,
        cpa: 0.2,
        cpc: 0.1,
        aov: 10,
      },
      resources: { campaigns: 2, offers: 1, landingPages: 2, trafficSources: 2 },
      retainedFrom: null,
      dataThrough: { clicks: null, conversions: null, costs: null },
      asOf: '2026-11-21T15:00:00.000Z',
    })
  })

  it('counts every resource, also with a filter', async () => {
    const { totals, resources } = await overview('days=2&campaign_id=k2')
    expect([totals.clicks, resources?.campaigns]).toEqual([1, 2])
  })
})

describe('GET /stats/daily', () => {
  it('has one row per day, oldest first, including days without clicks; today is incomplete', async () => {
    const { data } = await daily()
    expect(data).toHaveLength(30)
    expect(data[0]).toMatchObject({ id: '2026-10-23', date: '2026-10-23', complete: true, clicks: 0, cr: null })
    expect(data.slice(-2).map(({ id, complete, clicks, conversions }) => [id, complete, clicks, conversions])).toEqual([
      ['2026-11-20', true, 2, 2],
      ['2026-11-21', false, 2, 0],
    ])
  })

  it('has hours, weeks or months; those that the range cuts, or that are not over, are incomplete', async () => {
    const rows = async (query: string) =>
      (await daily(query)).data.map(({ id, date, complete, clicks }) => [id, date, complete, clicks])
    expect(await rows('interval=hour&from=2026-11-20T18:00:00Z&to=2026-11-20T20:30:00Z&tz=Asia/Kolkata')).toEqual([
      ['2026-11-20T23:00+05:30', '2026-11-20', false, 2],
      ['2026-11-21T00:00+05:30', '2026-11-21', true, 0],
      ['2026-11-21T01:00+05:30', '2026-11-21', true, 0],
    ])
    expect(await rows('interval=week&from=2026-11-09&to=2026-11-22')).toEqual([
      ['2026-11-09', '2026-11-09', true, 0],
      ['2026-11-16', '2026-11-16', false, 5],
    ])
    expect(await rows('interval=month&from=2026-10-15&to=2026-11-30')).toEqual([
      ['2026-10-01', '2026-10-01', false, 0],
      ['2026-11-01', '2026-11-01', false, 5],
    ])
  })

  it('counts days that do not start on a quarter of an hour exactly, from the clicks', async () => {
    const liberia = await api.account('liberia')
    await storeClicks(api.stores, 'liberia', [
      { id: 'c1', clicked_at: '1972-01-06 00:44:29.999' },
      { id: 'c2', clicked_at: '1972-01-06 00:44:30.000' },
      { id: 'c3', clicked_at: '1972-01-06 00:44:30.000', is_bot: true },
    ])
    api.setNow(Date.UTC(1972, 0, 6, 12))
    const { data } = await api.read('/stats/daily?days=2&tz=Africa/Monrovia', liberia, StatsDaily)
    api.setNow(testNowMs)
    expect(data.map(({ id, clicks }) => [id, clicks])).toEqual([
      ['1972-01-05', 1],
      ['1972-01-06', 1],
    ])
  })
})
