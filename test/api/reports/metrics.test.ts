import { beforeAll, expect, it } from 'vitest'
import { metricNames } from '../../../schema/metrics.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'clicks', [
    { id: 'c1', clickedAt: '2026-11-01T10:00:00Z', country: 'DE', region: 'Hesse', cost: 0.3 },
    { id: 'c2', clickedAt: '2026-11-02T10:00:00Z', country: 'US', region: 'Ohio', cost: 2.5 },
    { id: 'c3', clickedAt: '2026-11-02T11:00:00Z', country: 'US', region: 'Utah', cost: 1 },
  ])
  const statuses = ['approved', 'pending', 'hold', 'declined', 'refunded', 'chargeback']
  await importContent(
    api.stores,
    'acme',
    'conversions',
    statuses.map((status, n) => ({
      ...{ id: `v${n}`, convertedAt: `2026-11-0${1 + (n % 2)}T12:00:00Z`, status, revenue: 10 ** n / 100 },
      // A country has a bucket even if its only conversion is not approved.
      ...(status === 'hold' ? { country: 'AT' } : { clickId: `c${1 + (n % 3)}` }),
    })),
  )
})

const report = (query: string) => api.read(`/reports?from=2026-11-01&to=2026-11-02&${query}`, key, ReportResponse)

it.each(metricNames)(
  'a report of %s alone has the buckets, the order and the values of the whole report',
  async (metric) => {
    const only = (row: object = {}) => Object.entries(row).filter(([name]) => name === metric)
    const metricsOf = (row: object = {}) => Object.entries(row).filter(([name]) => name in allTotals)
    const { totals: allTotals } = await report('group_by=country')
    for (const query of [`group_by=country&sort=${metric}`, 'group_by=day&compare=previous_period&sort=-epc']) {
      const all = await report(query)
      const selected = await report(`${query}&metrics=${metric}`)
      expect([selected.bucketCount, metricsOf(selected.totals)]).toEqual([all.bucketCount, only(all.totals)])
      expect(metricsOf(selected.previous?.totals)).toEqual(only(all.previous?.totals))
      expect(selected.data.map((row) => [row.id, metricsOf(row), metricsOf(row.previous)])).toEqual(
        all.data.map((row) => [row.id, only(row), only(row.previous)]),
      )
    }
  },
)
