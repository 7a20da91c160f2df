import { beforeAll, describe, expect, it } from 'vitest'
import { dimensions } from '../../../schema/dimensions.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { useTestApp } from '../../kit/app.ts'
import { storeClicks, storeConversions } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await api.account('other')
  const first = { clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'k1', country: 'US' }
  const later = { ...first, clicked_at: '2026-11-21 09:00:00.000' }
  await storeClicks(api.stores, 'acme', [
    { ...first, id: 'c1', device: 'mobile', cost_base: 0.5 },
    { ...first, id: 'c2', clicked_at: '2026-11-20 23:59:59.999', country: 'DE', device: 'desktop', cost_base: 0.25 },
    { ...first, id: 'c3', clicked_at: '2026-11-21 00:00:00.000', campaign_id: 'k2', device: 'mobile' },
    { ...later, id: 'c4', campaign_id: '', country: '', device: 'mobile' },
    { ...later, id: 'bot', is_bot: true },
    { ...later, id: 'test', is_test: true },
  ])
  await storeClicks(api.stores, 'other', [{ ...first, id: 'c1' }])
  const sale = { converted_at: '2026-11-20 11:00:00.000', campaign_id: 'k1', country: 'US' }
  const laterSale = { ...sale, converted_at: '2026-11-21 12:00:00.000' }
  await storeConversions(api.stores, 'acme', [
    { ...sale, id: 'v1', revenue_base: 10 },
    { ...sale, id: 'v1', revenue_base: 12, version: 2 },
    { ...sale, id: 'v2', revenue_base: 5, status: 'pending' },
    { ...laterSale, id: 'v3', campaign_id: 'k9', country: 'FR', revenue_base: 7, status: 'chargeback' },
    { ...laterSale, id: 'v4', revenue_base: 99, is_test: true },
  ])
})

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
      ...{ id: 'k1', name: null, clicks: 2, conversions: 1, revenue: 12, pendingConversions: 1, holdConversions: 0 },
      ...{ declinedConversions: 0, refundedConversions: 0, pendingRevenue: 5, refundedRevenue: 0, cost: 0.75 },
      ...{ profit: 11.25, roi: 1500, cr: 50, epc: 6, cpa: 0.75, cpc: 0.375, aov: 12 },
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

  it.each(dimensions)('returns the same totals grouped by %s, also with a campaign filter', async (name) => {
    const { totals } = await report('group_by=campaign')
    expect((await report(`group_by=${name}`)).totals).toEqual(totals)
    expect((await report(`group_by=${name}&campaign_id=k1`)).totals).toMatchObject({
      ...{ clicks: 2, conversions: 1, pendingConversions: 1, refundedConversions: 0, cost: 0.75 },
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
