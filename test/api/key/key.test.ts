// @module-tag postgres

import { expect, it } from 'vitest'
import { Key } from '../../../schema/key.ts'
import { createKey, listKeys } from '../../../src/accounts/manageKeys.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'

const api = useTestApp()

it('GET /key describes the key of the request, its account and its limits, without the secret', async () => {
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

it('GET /key shows when the key expires', async () => {
  const expiresAt = new Date(testNowMs + 86_400_000)
  await api.account('brief')
  const wanted = { accountId: 'brief', name: 'One day', scopes: ['write:events' as const], expiresAt }
  const created = await createKey(api.stores.postgres, wanted)
  const key = created?.key ?? ''
  expect(await api.read('/key', key, Key)).toMatchObject({ name: 'One day', expiresAt: expiresAt.toISOString() })
})
