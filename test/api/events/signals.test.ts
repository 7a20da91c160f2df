import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../../kit/app.ts'
import { storeClicks, storeConversions, storeMetadata } from '../../kit/rows.ts'
import { accepted, send, storedEvents } from './send.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'camp' }])
  await storeClicks(
    api.stores,
    'acme',
    [1, 2, 3].map((n) => ({
      id: `c${n}`,
      clicked_at: `2026-11-2${n - 1} 10:00:00.000`,
      campaign_id: 'camp',
      cost_base: n,
    })),
  )
  await storeConversions(api.stores, 'acme', [
    { id: 'x1', converted_at: '2026-11-20 12:00:00.000', click_id: 'c1', campaign_id: 'camp', revenue_base: 5 },
  ])
})

/** Everything that an account can read; one read at a time, since a read that waits five seconds for others gets 429. */
async function figures(): Promise<unknown[]> {
  const lists = ['/clicks', '/conversions', '/campaigns']
  const numbers = ['/stats/overview', '/stats/daily?days=5', '/reports?group_by=campaign', '/reports?group_by=day,sub1']
  const found: unknown[] = []
  for (const path of [...lists, ...numbers]) {
    const response = await api.get(path, key)
    expect([path, response.statusCode]).toEqual([path, 200])
    found.push([path, response.json()])
  }
  return found
}

describe('server events', () => {
  it('change no click, no conversion and no number of stats and reports', async () => {
    const { clickhouse } = api.stores
    const conversions = async () =>
      (await clickhouse.client.query({ query: 'SELECT * FROM conversions', format: 'JSONEachRow' })).json()
    const before = [await figures(), await conversions()]
    for (const event_name of ['conversion', 'purchase', 'approved']) {
      const money = { value: 1_000, currency: 'USD', properties: { revenue: 1_000, status: 'approved' } }
      expect(await send(api.app, key, { click_id: 'c1', event_name, ...money })).toEqual(accepted)
      const visitor = { visitor_id: 'v1', campaign_id: 'camp', timestamp: '2026-11-20T12:00:00Z' }
      expect(await send(api.app, key, { ...visitor, event_name, ...money })).toEqual(accepted)
    }
    expect(await storedEvents(api.stores, 'acme')).toHaveLength(6)
    expect([await figures(), await conversions()]).toEqual(before)
  })
})
