// @module-tag postgres

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccount, setPlanOfAccount } from '../../src/accounts/accounts.ts'
import { openKeyCache } from '../../src/accounts/keyCache.ts'
import { hashOfKey, hideKeys, isKeyText, makeKeyText, prefixOfKey } from '../../src/accounts/keyFormat.ts'
import { openKeyUses } from '../../src/accounts/keyUses.ts'
import { findKey, listKeys, revokeKey } from '../../src/accounts/manageKeys.ts'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { makeKey as makeKeyOf } from '../kit/accounts.ts'
import { testNowMs, useTestApp } from '../kit/app.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'

const server = useTestApp()
let nowMs: number

/** Advances the clock of the server and of its key cache. */
function wait(ms: number): void {
  nowMs = (nowMs ?? testNowMs) + ms
  server.setNow(nowMs)
}

async function makeKey(accountId: string, expiresAt: Date | null = null, plan = 'scale') {
  await createAccount(server.stores.postgres, { id: accountId, name: accountId, plan, currency: 'USD' })
  return await makeKeyOf(server.stores, accountId, ['read:clicks'], { expiresAt })
}

/** The Postgres of the server, with a count of statements and a switch for an outage. */
function observed() {
  const state = { queries: 0, isDown: false }
  const postgres = interceptPostgres(server.stores.postgres, (_, run) => {
    state.queries += 1
    return state.isDown ? Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' })) : run()
  })
  return { state, postgres }
}

describe('key text', () => {
  it('a key is trb_live_, 30 base62 characters and 6 characters of checksum', () => {
    const keys = Array.from({ length: 200 }, makeKeyText)
    for (const key of keys) expect(key).toMatch(/^trb_live_[0-9A-Za-z]{36}$/)
    expect(keys.every(isKeyText)).toBe(true)
    expect(new Set(keys).size).toBe(200)
  })

  it('the last 6 base62 digits of a key are the CRC-32 of the characters before them', () => {
    // Computed with zlib.crc32 of Python.
    expect(isKeyText(`trb_live_${'0'.repeat(30)}3ygcDY`)).toBe(true)
  })

  it('rejects a key with any one character changed', () => {
    const key = makeKeyText()
    fc.assert(
      fc.property(fc.nat({ max: key.length - 1 }), fc.constantFrom(...'abcXYZ019_-é '), (index, character) => {
        const changed = key.slice(0, index) + character + key.slice(index + 1)
        expect(isKeyText(changed)).toBe(changed === key)
      }),
    )
  })

  it('masks a key that is percent-encoded any number of times, in any case', () => {
    const encode = (character: string) => `%${character.charCodeAt(0).toString(16)}`
    const spellings: ((key: string) => string)[] = [
      (key) => key.replaceAll('_', '%5F'),
      (key) => key.replaceAll('_', '%5f'),
      (key) => key.replaceAll('_', '%255F'),
      (key) => key.replaceAll('_', '%25255f'),
      (key) => key.replace(/./g, encode),
      (key) => key.replace(/./g, encode).toUpperCase(),
      (key) => key.replace(/./g, encode).replaceAll('%', '%25'),
      (key) => key.replace(/.(?=(..)*$)/g, encode),
      (key) => key.toUpperCase(),
    ]
    fc.assert(
      fc.property(fc.constantFrom(...spellings), fc.boolean().map(makeKeyText), (spell, key) => {
        const shown = hideKeys(`/a/${spell(key)}?x=${spell(key)}&limit=1`)
        expect(shown).toMatch(/^\/a\/[^?]{1,60}…\?x=[^&]{1,60}…&limit=1$/)
        const decoded = [1, 2, 3].reduce(decodeURIComponent, shown.replaceAll('…', '!'))
        expect(decoded).toMatch(/^\/a\/trb_(live|part)_!\?x=trb_(live|part)_!&limit=1$/i)
      }),
    )
  })
})

it('a stored key is a hash and a prefix, never the key', async () => {
  const { key, row } = await makeKey('stored')
  const rows = await server.stores.postgres`SELECT * FROM api_keys WHERE id = ${row.id}`
  expect(JSON.stringify(rows)).not.toContain(key)
  expect(rows[0]?.hash.toString('hex')).toBe(hashOfKey(key))
  expect(rows[0]?.prefix).toBe(prefixOfKey(key))
  expect(prefixOfKey(key)).toHaveLength('trb_live_'.length + 4)
})

describe('a valid key', () => {
  it('rejects a revoked key within 5 seconds, however often it is used', async () => {
    const { key, row } = await makeKey('busy')
    expect((await server.get('/clicks', key)).statusCode).toBe(200)
    await revokeKey(server.stores.postgres, row.id)
    for (let waited = 0; waited <= 5_000; waited += 500) {
      await server.get('/clicks', key)
      wait(500)
    }
    const response = await server.get('/clicks', key)
    expect([response.statusCode, response.json().error]).toEqual([401, 'revoked_api_key'])
  })

  it('expires a key to the millisecond, whatever is cached', async () => {
    const { key } = await makeKey('expiring', new Date(nowMs + 1_000))
    wait(999)
    expect((await server.get('/clicks', key)).statusCode).toBe(200)
    wait(1)
    const response = await server.get('/clicks', key)
    expect(response.statusCode).toBe(401)
    expect(response.json().error).toBe('expired_api_key')
  })

  it('applies a change of plan or of its limits within 5 seconds', async () => {
    const { key } = await makeKey('moving', null, 'pro')
    expect((await server.get('/clicks', key)).headers['x-ratelimit-limit']).toBe('600')
    await setPlanLimits(server.stores.postgres, 'pro', { requestsPerMinute: 700 })
    wait(5_000)
    expect((await server.get('/clicks', key)).headers['x-ratelimit-limit']).toBe('700')
    await setPlanOfAccount(server.stores.postgres, 'moving', 'free')
    wait(5_000)
    const response = await server.get('/clicks', key)
    expect(response.statusCode).toBe(403)
    expect(response.json().error).toBe('plan_required')
    expect(response.headers['x-ratelimit-limit']).toBe('0')
  })

  it('accepts a new key within 2 seconds, even if it was tried before its creation', async () => {
    const { key, row } = await makeKey('early')
    const { postgres } = server.stores
    await postgres`UPDATE api_keys SET hash = sha256('another') WHERE id = ${row.id}`
    expect((await server.get('/clicks', key)).json().error).toBe('invalid_api_key')
    await postgres`UPDATE api_keys SET hash = decode(${hashOfKey(key)}, 'hex') WHERE id = ${row.id}`
    wait(2_000)
    expect((await server.get('/clicks', key)).statusCode).toBe(200)
  })

  it('records the last use of a key, to the minute, at most once a minute', async () => {
    const [{ key }, { key: marker }] = [await makeKey('noted'), await makeKey('noted-too')]
    const { postgres } = server.stores
    const lastUse = async (account = 'noted') => (await listKeys(postgres, account)).at(-1)?.lastUsedAt?.getTime()
    const minuteOf = (ms: number) => ms - (ms % 60_000)
    await server.get('/clicks', key)
    const first = minuteOf(nowMs)
    await expect.poll(() => lastUse()).toBe(first)
    await postgres`UPDATE api_keys SET last_used_at = NULL WHERE account_id = 'noted'`
    wait(59_000)
    await server.get('/clicks', key)
    // Uses are written in their order: when the later one is stored, the earlier one would be.
    await server.get('/clicks', marker)
    await expect.poll(() => lastUse('noted-too')).toBe(minuteOf(nowMs))
    expect(await lastUse()).toBeUndefined()
    wait(1_000)
    await server.get('/clicks', key)
    await expect.poll(() => lastUse()).toBe(minuteOf(nowMs))
  })
})

it('the last use of keys is written by one statement at a time, for all keys used meanwhile', async () => {
  const { postgres } = server.stores
  await makeKey('many-uses')
  const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey('many-uses')))
  const { state, postgres: counting } = observed()
  const recordUse = openKeyUses(counting, () => testNowMs)
  for (let use = 0; use < 100; use += 1) for (const { row } of keys) recordUse(row.id)
  const unused = async () => (await listKeys(postgres, 'many-uses')).filter(({ lastUsedAt }) => lastUsedAt === null)
  // The first key is not used.
  await expect.poll(async () => (await unused()).length, { timeout: 10_000 }).toBe(1)
  expect(state.queries).toBe(2)
})

it('the last use of keys is not moved back by an instance with an earlier clock', async () => {
  const { postgres } = server.stores
  const [{ row }, { row: other }] = [await makeKey('two-clocks'), await makeKey('two-clocks')]
  openKeyUses(postgres, () => testNowMs + 3_600_000)(row.id)
  const lastUseOf = async (id: string) => (await findKey(postgres, id))?.lastUsedAt?.getTime()
  await expect.poll(() => lastUseOf(row.id), { timeout: 10_000 }).toBe(testNowMs + 3_600_000)
  const recordEarlier = openKeyUses(postgres, () => testNowMs)
  recordEarlier(row.id)
  recordEarlier(other.id)
  await expect.poll(() => lastUseOf(other.id), { timeout: 10_000 }).toBe(testNowMs)
  expect(await lastUseOf(row.id)).toBe(testNowMs + 3_600_000)
})

describe('the key cache', () => {
  it('keeps existing keys whatever the number of invented keys', async () => {
    const { key } = await makeKey('steady')
    const { state, postgres } = observed()
    const keys = openKeyCache(postgres, () => 0)
    await keys.find(hashOfKey(key))
    for (let batch = 0; batch < 20; batch++)
      await Promise.all(Array.from({ length: 50 }, (_, index) => keys.find(hashOfKey(`invented ${batch} ${index}`))))
    const before = state.queries
    expect(await keys.find(hashOfKey(key))).toMatchObject({ accountId: 'steady' })
    expect(state.queries).toBe(before)
  })

  it('accepts cached keys for 60 seconds while Postgres is down, then responds unavailable', async () => {
    const { key } = await makeKey('outage')
    const { state, postgres } = observed()
    let ms = 0
    const keys = openKeyCache(postgres, () => ms)
    await keys.find(hashOfKey(key))
    state.isDown = true
    for (ms = 0; ms < 60_000; ms += 1_000)
      expect(await keys.find(hashOfKey(key))).toMatchObject({ accountId: 'outage' })
    ms = 60_000
    await expect(keys.find(hashOfKey(key))).rejects.toMatchObject({ code: 'unavailable' })
    const { queries } = state
    await expect(keys.find(hashOfKey(key))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(keys.find(hashOfKey(makeKeyText()))).rejects.toMatchObject({ code: 'unavailable' })
    expect(state.queries).toBe(queries)
    state.isDown = false
    ms = 63_000
    expect(await keys.find(hashOfKey(key))).toMatchObject({ accountId: 'outage' })
  })

  it('rejects a revoked key within 5 seconds after Postgres is back', async () => {
    const { key, row } = await makeKey('after-outage')
    const { state, postgres } = observed()
    let ms = 0
    const keys = openKeyCache(postgres, () => ms)
    await keys.find(hashOfKey(key))
    state.isDown = true
    ms = 20_000
    expect(await keys.find(hashOfKey(key))).toMatchObject({ isRevoked: false })
    state.isDown = false
    await revokeKey(server.stores.postgres, row.id)
    ms = 25_000
    expect(await keys.find(hashOfKey(key))).toMatchObject({ isRevoked: true })
  })
})

it('a key with a wrong checksum is never looked up in Postgres', async () => {
  const { state, postgres } = observed()
  const app = await server.open({ stores: { ...server.stores, postgres } })
  const key = makeKeyText()
  const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  for (const authorization of [`ApiKey ${wrong}`, `ApiKey ${key}x`, 'ApiKey x', `Bearer ${wrong}`, wrong]) {
    const { statusCode } = await app.inject({ url: '/api/v1/clicks', headers: { authorization } })
    expect([authorization, statusCode]).toEqual([authorization, 401])
  }
  expect(state.queries).toBe(0)
  await app.inject({ url: '/api/v1/clicks', headers: { authorization: `ApiKey ${key}` } })
  expect(state.queries).toBe(1)
})
