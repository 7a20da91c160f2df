// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { Key } from '../../../schema/key.ts'
import { Usage } from '../../../schema/usage.ts'
import { listKeys } from '../../../src/accounts/manageKeys.ts'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { makeKey } from '../../kit/accounts.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { storeClicks } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  await setPlanLimits(api.stores.postgres, 'pro', { clickAllowance: 1 })
  key = await api.account('acme', { plan: 'pro' })
  const click = { campaign_id: 'k1' }
  await storeClicks(api.stores, 'acme', [
    { ...click, id: 'october', clicked_at: '2026-10-31 23:59:59.999' },
    { ...click, id: 'first', clicked_at: '2026-11-01 00:00:00.000' },
    { ...click, id: 'last', clicked_at: '2026-11-30 23:59:59.999' },
    { ...click, id: 'december', clicked_at: '2026-12-01 00:00:00.000' },
    { ...click, id: 'bot', clicked_at: '2026-11-21 10:00:00.000', is_bot: true },
    { ...click, id: 'test', clicked_at: '2026-11-21 10:00:00.000', is_test: true },
  ])
})

const usage = () => api.read('/usage', key, Usage)

describe('GET /usage', () => {
  it('returns the clicks and events of this UTC month with the limits of the plan', async () => {
    api.setNow(testNowMs)
    expect(await usage()).toEqual({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-12-01T00:00:00.000Z',
      plan: 'pro',
      clicks: { tracked: 2, allowance: 1 },
      events: { stored: 0, ceiling: 20 },
      limits: { requestsPerMinute: 600, eventsPerMinute: 6000, identifierEventsPerMinute: 120 },
      lastStoredAt: { clicks: null, conversions: null, costs: null },
      asOf: '2026-11-21T15:00:00.000Z',
    })
  })

  it.each([
    ['the last moment of a year', Date.UTC(2026, 11, 31, 23, 59, 59, 999), '2026-12-01', '2027-01-01', 1],
    ['the first moment of one', Date.UTC(2027, 0, 1), '2027-01-01', '2027-02-01', 0],
  ])('starts at zero with the month: %s', async (_name, nowMs, from, to, tracked) => {
    api.setNow(nowMs)
    expect(await usage()).toMatchObject({
      from: `${from}T00:00:00.000Z`,
      to: `${to}T00:00:00.000Z`,
      clicks: { tracked },
      events: { stored: 0 },
    })
  })
})

it('GET /key describes the key of the request, its account and its limits, without the secret', async () => {
  const key = await api.account('described', { plan: 'pro', currency: 'EUR', scopes: ['read:clicks', 'write:events'] })
  const [row] = await listKeys(api.stores.postgres, 'described')
  const response = await api.read('/key', key, Key)
  expect(response).toEqual({
    id: row?.id,
    name: 'test',
    accountId: 'described',
    accountName: 'described',
    currency: 'EUR',
    plan: 'pro',
    scopes: ['read:clicks', 'write:events'],
    expiresAt: null,
    limits: { requestsPerMinute: 600, eventsPerMinute: 6000, identifierEventsPerMinute: 120 },
  })
  expect(JSON.stringify(response)).not.toContain(key)
})

it('GET /key shows when the key expires', async () => {
  const expiresAt = new Date(testNowMs + 86_400_000)
  api.setNow(testNowMs)
  await api.account('brief')
  const { key } = await makeKey(api.stores, 'brief', ['write:events'], { name: 'One day', expiresAt })
  expect(await api.read('/key', key, Key)).toMatchObject({ name: 'One day', expiresAt: expiresAt.toISOString() })
})
