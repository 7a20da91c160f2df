// @module-tag postgres

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Key } from '../../../schema/key.ts'
import { createKey, listKeys, revokeKey } from '../../../src/accounts/keys.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'

let api: TestApp

beforeAll(async () => {
  api = await openTestApp()
})
afterAll(() => api?.close())

describe('GET /key', () => {
  it('describes the key of the request, its account and its limits, without the secret', async () => {
    const key = await api.account('acme', { plan: 'pro', currency: 'EUR', scopes: ['read:clicks', 'write:events'] })
    const [row] = await listKeys(api.stores.postgres, 'acme')
    const response = await api.read('/key', key, Key)
    expect(response).toEqual({
      id: row?.id,
      name: 'test',
      accountId: 'acme',
      accountName: 'acme',
      currency: 'EUR',
      plan: 'pro',
      scopes: ['read:clicks', 'write:events'],
      expiresAt: null,
      limits: { requestsPerMinute: 600, eventsPerMinute: 6000, identifierEventsPerMinute: 120 },
    })
    expect(JSON.stringify(response)).not.toContain(key)
  })

  it('shows when the key expires, and rejects it from then on', async () => {
    const expiresAt = new Date(testNowMs + 86_400_000)
    await api.account('brief')
    const wanted = { accountId: 'brief', name: 'One day', scopes: ['write:events' as const], expiresAt }
    const created = await createKey(api.stores.postgres, wanted)
    const key = created?.key ?? ''
    expect(await api.read('/key', key, Key)).toMatchObject({ name: 'One day', expiresAt: expiresAt.toISOString() })
    api.setNow(expiresAt.getTime())
    expect((await api.get('/key', key)).json()).toMatchObject({ error: 'expired_api_key' })
    api.setNow(testNowMs)
  })

  it('checks a key as every other operation does', async () => {
    const codeOf = async (path: string, key?: string) => {
      const response = await api.get(path, key)
      return [response.statusCode, response.json().error]
    }
    const key = await api.account('rejected')
    expect(await codeOf('/key')).toEqual([401, 'missing_api_key'])
    expect(await codeOf('/key', 'garbage')).toEqual([401, 'invalid_api_key'])
    expect(await codeOf('/key?account=acme', key)).toEqual([400, 'unknown_parameter'])
    expect(await codeOf('/key', await api.account('unpaid', { plan: 'free' }))).toEqual([403, 'plan_required'])
    const revoked = await createKey(api.stores.postgres, {
      ...{ accountId: 'rejected', name: 'revoked', scopes: ['read:clicks'], expiresAt: null },
    })
    await revokeKey(api.stores.postgres, revoked?.row.id ?? '')
    expect(await codeOf('/key', revoked?.key)).toEqual([401, 'revoked_api_key'])
  })

  it('must not be cached, and counts against the rate limit', async () => {
    const key = await api.account('counted', { plan: 'pro' })
    const { headers } = await api.get('/key', key)
    expect(headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-ratelimit-remaining': '599' })
  })
})
