import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import type { App } from '../../../src/http/context.ts'
import { storedInMonthSql } from '../../../src/query/monthlyCounts.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { changeTables, explain, storeEvents } from '../../kit/rows.ts'
import { accepted, deduplicated, newAccount as openAccount, overCeiling, send, storedEvents } from './send.ts'

const api = useTestApp()

beforeAll(async () => {
  // Twenty times one click.
  await setPlanLimits(api.stores.postgres, 'pro', { clickAllowance: 1 })
})

function newAccount() {
  api.setNow(testNowMs)
  return openAccount(api, { plan: 'pro' })
}

const event = (event_id?: string) => ({ click_id: 'click', event_name: 'paid', event_id })

async function sendMany(key: string, count: number, app: App = api.app, body: object = event()) {
  return await Promise.all(Array.from({ length: count }, () => send(app, key, body)))
}

describe('the fair-use ceiling', () => {
  it('stores 20 times the click allowance under concurrent requests, and no more', async () => {
    const { id, key } = await newAccount()
    const responses = await sendMany(key, 50)
    expect(responses.filter(([, body]) => body.recorded !== false)).toEqual(Array(20).fill(accepted))
    expect(responses.filter(([, body]) => body.recorded === false)).toEqual(Array(30).fill(overCeiling))
    expect(await storedEvents(api.stores, id)).toHaveLength(20)
    expect(await sendMany(key, 5)).toEqual(Array(5).fill(overCeiling))
  })

  it('does not count duplicates, and reports them as duplicates above it', async () => {
    const { id, key } = await newAccount()
    for (let count = 0; count < 3; count++)
      expect(await send(api.app, key, event('e1'))).toEqual(count === 0 ? accepted : deduplicated)
    expect(await sendMany(key, 19)).toEqual(Array(19).fill(accepted))
    expect(await send(api.app, key, event('e2'))).toEqual(overCeiling)
    expect(await send(api.app, key, event('e1'))).toEqual(deduplicated)
    expect(await storedEvents(api.stores, id)).toHaveLength(20)
  })

  it('starts at zero with the UTC month, by the time of the request, and remembers no event above it', async () => {
    const { key } = await newAccount()
    api.setNow(Date.UTC(2026, 11, 1) - 1)
    await sendMany(key, 20)
    for (let count = 0; count < 2; count++) expect(await send(api.app, key, event('e1'))).toEqual(overCeiling)
    api.setNow(Date.UTC(2026, 11, 1))
    const late = { ...event(), timestamp: '2026-11-30T12:00:00Z' }
    expect(await send(api.app, key, event('e1'))).toEqual(accepted)
    expect(await sendMany(key, 19, api.app, late)).toEqual(Array(19).fill(accepted))
    expect(await send(api.app, key, late)).toEqual(overCeiling)
  })

  it('is shared by instances within 5 seconds', async () => {
    const { key } = await newAccount()
    const other = await api.open()
    expect(await sendMany(key, 1)).toEqual([accepted])
    expect(await sendMany(key, 19, other)).toEqual(Array(19).fill(accepted))
    const systemNow = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => systemNow() + 5_000)
    onTestFinished(() => void clock.mockRestore())
    expect(await send(api.app, key, event())).toEqual(overCeiling)
  })

  it('counts neither browser events nor events of other accounts', async () => {
    const [{ id, key }, other] = [await newAccount(), await newAccount()]
    await sendMany(other.key, 20)
    const browser = { origin: 'browser', occurred_at: '2026-11-21 15:00:00.000' }
    const views = Array.from({ length: 40 }, (_, n) => ({ ...browser, id: `b${n}` }))
    await storeEvents(api.stores, id, views)
    const responses = await sendMany(key, 21)
    expect(responses.filter(([, body]) => body.recorded !== false)).toHaveLength(20)
  })

  it('counts from the projection, which stays correct when rows collapse', { tags: 'long' }, async () => {
    const { id, key } = await newAccount()
    await sendMany(key, 10)
    const { clickhouse } = api.stores
    for (let count = 0; count < 3; count++) {
      const row = { account_id: id, origin: 'server', id: 'e1', event_name: 'a', received_at: testNowMs + count }
      await clickhouse.client.insert({ table: 'pixel_events', format: 'JSONEachRow', values: [row] })
    }
    await changeTables(api.stores, 'OPTIMIZE TABLE pixel_events FINAL')
    const count = storedInMonthSql([id], Date.UTC(2026, 10, 1))
    expect(await selectRows(clickhouse, count, { label: 'test' })).toEqual([{ accountId: id, stored: 11 }])
    const plan = await explain(clickhouse.client, 'distributed = 1', count)
    expect(plan.match(/ReadFromMergeTree \(by_month\)/g)).toHaveLength(clickhouse.cluster?.shards ?? 1)
  })
})
