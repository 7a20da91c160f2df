import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dimensions } from '../../../schema/dimensions.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { openTestApp, type TestApp } from '../../kit/app.ts'
import { storeClicks, storeConversions } from '../../kit/rows.ts'

let api: TestApp
let key: string

beforeAll(async () => {
  api = await openTestApp()
  key = await api.account('acme')
  await api.account('other')
  await storeClicks(api.stores, 'acme', [
    {
      id: 'c1',
      clicked_at: '2026-11-20 10:00:00.000',
      campaign_id: 'k1',
      country: 'US',
      device: 'mobile',
      cost_base: 0.5,
    },
    {
      id: 'c2',
      clicked_at: '2026-11-20 23:59:59.999',
      campaign_id: 'k1',
      country: 'DE',
      device: 'desktop',
      cost_base: 0.25,
    },
    { id: 'c3', clicked_at: '2026-11-21 00:00:00.000', campaign_id: 'k2', country: 'US', device: 'mobile' },
    { id: 'c4', clicked_at: '2026-11-21 09:00:00.000', campaign_id: '', country: '', device: 'mobile' },
    { id: 'bot', clicked_at: '2026-11-21 09:00:00.000', campaign_id: 'k1', country: 'US', is_bot: true },
    { id: 'test', clicked_at: '2026-11-21 09:00:00.000', campaign_id: 'k1', country: 'US', is_test: true },
  ])
  await storeClicks(api.stores, 'other', [
    { id: 'c1', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'k1', country: 'US' },
  ])
  await storeConversions(api.stores, 'acme', [
    { id: 'v1', converted_at: '2026-11-20 11:00:00.000', campaign_id: 'k1', country: 'US', revenue_base: 10 },
    {
      id: 'v1',
      converted_at: '2026-11-20 11:00:00.000',
      campaign_id: 'k1',
      country: 'US',
      revenue_base: 12,
      version: 2,
    },
    {
      id: 'v2',
      converted_at: '2026-11-20 12:00:00.000',
      campaign_id: 'k1',
      country: 'US',
      revenue_base: 5,
      status: 'pending',
    },
    {
      id: 'v3',
      converted_at: '2026-11-21 12:00:00.000',
      campaign_id: 'k9',
      country: 'FR',
      revenue_base: 7,
      status: 'chargeback',
    },
    {
      id: 'v4',
      converted_at: '2026-11-21 12:00:00.000',
      campaign_id: 'k1',
      country: 'US',
      revenue_base: 99,
      is_test: true,
    },
  ])
})
afterAll(() => api?.close())

const report = (query: string) => api.read(`/reports?${query}`, key, ReportResponse)
const buckets = async (query: string) =>
  (await report(query)).data.map(({ id, clicks, conversions }) => [id, clicks, conversions])

describe('GET /reports', () => {
  it('counts clicks and approved conversions by bucket, by clicks descending, then by id', async () => {
    expect(await buckets('group_by=country')).toEqual([
      ['US', 2, 1],
      ['(not set)', 1, 0],
      ['DE', 1, 0],
      ['FR', 0, 0],
    ])
  })

  it('computes ratios from sums and returns null for a zero denominator', async () => {
    const { data, totals } = await report('group_by=campaign')
    expect(data[0]).toEqual({
      id: 'k1',
      name: null,
      clicks: 2,
      conversions: 1,
      revenue: 12,
      pendingConversions: 1,
      holdConversions: 0,
      declinedConversions: 0,
      refundedConversions: 0,
      pendingRevenue: 5,
      refundedRevenue: 0,
      cost: 0.75,
      profit: 11.25,
      roi: 1500,
      cr: 50,
      epc: 6,
      cpa: 0.75,
      cpc: 0.375,
      aov: 12,
    })
    expect(data.find(({ id }) => id === 'k9')).toMatchObject({
      clicks: 0,
      refundedConversions: 1,
      refundedRevenue: 7,
      cr: null,
      epc: null,
    })
    expect(totals).toMatchObject({ clicks: 4, conversions: 1, cr: 25, epc: 3, cpc: 0.1875 })
  })

  it.each(dimensions)('returns the same totals grouped by %s', async (dimension) => {
    const { totals } = await report('group_by=campaign')
    expect((await report(`group_by=${dimension}`)).totals).toEqual(totals)
  })

  it.each(dimensions)('filters by campaign when grouped by %s', async (dimension) => {
    const { totals } = await report(`group_by=${dimension}&campaign_id=k1`)
    expect(totals).toMatchObject({
      clicks: 2,
      conversions: 1,
      pendingConversions: 1,
      refundedConversions: 0,
      cost: 0.75,
    })
  })

  it('counts partial days to the millisecond', async () => {
    const { totals } = await report('group_by=country&from=2026-11-20T10:00:00.001Z&to=2026-11-21T00:00:00.001Z')
    expect(totals).toMatchObject({ clicks: 2, conversions: 1 })
    expect(await buckets('group_by=day&from=2026-11-20T23:59:59.999Z&to=2026-11-21T09:00:00Z')).toEqual([
      ['2026-11-20', 1, 0],
      ['2026-11-21', 1, 0],
    ])
  })

  it('returns the resolved range', async () => {
    expect(await report('group_by=day&days=1')).toMatchObject({
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      groupBy: 'day',
      currency: 'USD',
      bucketCount: 1,
      truncated: false,
      asOf: '2026-11-21T15:00:00.000Z',
    })
  })
})
