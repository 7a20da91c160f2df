import { beforeAll, expect, it } from 'vitest'
import { ReportResponse } from '../../../schema/report.ts'
import { useTestApp } from '../../kit/app.ts'
import { storeClicks } from '../../kit/rows.ts'

const campaigns = 1_100

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  const clicks = Array.from({ length: campaigns }, (_, n) => ({
    id: `c${n}`,
    clicked_at: '2026-11-20 10:00:00.000',
    campaign_id: `k${n}`,
  }))
  await storeClicks(api.stores, 'acme', clicks)
})

it('returns at most 1,000 buckets, with totals over all of them', async () => {
  const report = await api.read('/reports?group_by=campaign&days=7', key, ReportResponse)
  expect([report.data.length, report.bucketCount, report.truncated]).toEqual([1_000, campaigns, true])
  expect(report.totals.clicks).toBe(campaigns)
})

it.each([
  ['', 1_000, 'true'],
  ['&campaign_id=k1,k2', 2, 'false'],
])('CSV says in headers how many buckets there are%s', async (filter, rows, truncated) => {
  const response = await api.get(`/reports?group_by=campaign&days=7&format=csv&totals=true${filter}`, key)
  expect(response.body.trim().split('\n')).toHaveLength(rows + 2)
  const buckets = filter === '' ? campaigns : rows
  expect(response.headers).toMatchObject({ 'x-bucket-count': `${buckets}`, 'x-truncated': truncated })
})

it('orders ids by their characters, also those beyond 16 bits', async () => {
  const ids = ['z', '\ufb00', '😀', '😁']
  const clicks = ids.map((os, n) => ({ id: `c${n}`, clicked_at: '2026-11-20 10:00:00.000', os }))
  const other = await api.account('characters')
  await storeClicks(api.stores, 'characters', clicks)
  for (const sort of ['id', 'clicks']) {
    const report = await api.read(`/reports?group_by=os&days=7&sort=${sort}`, other, ReportResponse)
    expect(report.data.map(({ id }) => id)).toEqual(ids)
  }
})
