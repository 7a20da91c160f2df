// @module-tag all

import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { Redis as Client } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import type { App } from '../../src/http/context.ts'
import { FixedWindowCounters } from '../../src/http/fixedWindowCounters.ts'
import { openRedis, type Redis } from '../../src/stores/redis.ts'
import { post } from '../api/events/send.ts'
import { getFrom, useTestApp } from '../kit/app.ts'
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts'
import { storeMetadata } from '../kit/rows.ts'

describe.skipIf(!hasRedis())('rate limits shared in Redis', () => {
  const api = useTestApp()
  let server: TestRedis
  let one: App
  let other: App
  const opened: Redis[] = []
  const messages: string[] = []

  beforeAll(async () => {
    server = await startRedis()
    const limits = { requestsPerMinute: 6, eventsPerMinute: 50, identifierEventsPerMinute: 3 }
    await setPlanLimits(api.stores.postgres, 'pro', limits)
    one = await instance('open')
    other = await instance('open')
  })
  afterAll(() => {
    for (const redis of opened) redis.close()
    server?.close()
  })

  /** @param timeoutMs of commands; long unless Redis becomes unavailable, so that a busy machine does not end it */
  async function instance(withoutRedis: 'open' | 'closed', timeoutMs?: number): Promise<App> {
    const redis = await openRedis(server.url, ({ message }) => messages.push(message), timeoutMs ?? 10_000)
    opened.push(redis)
    return await api.open({ settings: { ...api.stores.settings, RATE_LIMIT_WITHOUT_REDIS: withoutRedis }, redis })
  }

  async function account(id: string): Promise<string> {
    const key = await api.account(id, { plan: 'pro' })
    await storeMetadata(api.stores, 'campaigns', id, [{ id: 'camp' }])
    return key
  }

  const read = (app: App, key: string) => getFrom(app, '/campaigns', key)
  const event = (visitor_id: string) => ({ visitor_id, campaign_id: 'camp', event_name: 'a' })

  it('keeps using Redis after a pause of the instance itself', async () => {
    const redis = await openRedis(server.url, ({ message }) => messages.push(message), 500)
    opened.push(redis)
    // Redis has loaded the script, so the next command is sent in the same iteration of the event loop.
    await redis.add('key:paused', 60_000)
    const counted = redis.add('key:paused', 60_000)
    await new Promise((resolve) => setImmediate(() => process.nextTick(resolve)))
    // Redis sends a response before it reads the next command.
    const read = ['-u', server.url, 'GET', 'tributary:key:paused']
    while (execFileSync('redis-cli', read, { encoding: 'utf8' }).trim() !== '2');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    expect(await counted).toMatchObject({ count: 2 })
    expect(redis.isUnavailable).toBe(false)
  })

  it('counts a key across all instances, with equal rate limit headers', async () => {
    const key = await account('shared')
    const responses = []
    for (let count = 0; count < 8; count++) responses.push(await read(count % 2 ? other : one, key))
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual([...'54321000'])
    expect(Number(responses[7]?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(responses[7]?.headers['retry-after'])).toBeLessThanOrEqual(60)
  })

  it('counts identifiers, and rejected keys of an address, across all instances', async () => {
    const key = await account('visited')
    const statuses = []
    for (let count = 0; count < 4; count++)
      statuses.push((await post(count % 2 ? other : one, key, event('v1'))).statusCode)
    expect(statuses).toEqual([200, 200, 200, 429])
    for (let count = 0; count < 120; count++) await read(count % 2 ? other : one, 'nonsense')
    expect((await read(one, 'nonsense')).statusCode).toBe(429)
    expect((await read(other, 'nonsense')).statusCode).toBe(429)
  })

  it('counts the events of batches across all instances, each batch as a whole or only as one request', async () => {
    const key = await account('batches')
    const batch = async (app: App, events: number) => {
      const payload = { events: Array.from({ length: events }, (_, n) => event(`${events}-${n}`)) }
      const { statusCode, headers } = await post(app, key, payload, { path: '/events/batch' })
      return [statusCode, headers['x-ratelimit-remaining']]
    }
    expect(await batch(one, 30)).toEqual([200, '20'])
    expect(await batch(other, 21)).toEqual([429, '19'])
    expect(await batch(one, 19)).toEqual([200, '0'])
    expect(await batch(other, 1)).toEqual([429, '0'])
  })

  it('adds to a counter only within a maximum, as in memory: in any order, and never above it when instances race', async () => {
    const [first, second] = opened as [Redis, Redis]
    const amounts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(amounts, fc.integer({ min: 1, max: 30 }), async (all, max) => {
        runs += 1
        const memory = new FixedWindowCounters(60_000)
        for (const amount of all) {
          const { endsInMs, ...added } = await first.add(`key:in-order-${runs}`, 60_000, amount, max)
          const { endsInMs: _, ...expected } = memory.add('key', 0, amount, max)
          expect([amount, added]).toEqual([amount, expected])
          // A counter that does not exist has nothing to expire.
          expect(endsInMs > 0 && endsInMs <= 60_000).toBe(added.count > 0)
        }
        const raced = await Promise.all(
          all.map(async (amount, index) => ({
            amount,
            ...(await (index % 2 ? second : first).add(`key:raced-${runs}`, 60_000, amount, max)),
          })),
        )
        const sum = raced.reduce((total, { amount, isAdded }) => total + (isAdded ? amount : 0), 0)
        expect(sum).toBeLessThanOrEqual(max)
        // Nothing fits below 0, so this reads the counter.
        expect((await second.add(`key:raced-${runs}`, 60_000, 1, 0)).count).toBe(sum)
        // None is refused for which there was space at the end.
        for (const { amount, isAdded } of raced) if (!isAdded) expect(sum + amount).toBeGreaterThan(max)
      }),
      { numRuns: 15 },
    )
  })

  it('stores nothing in Redis for longer than a minute', async () => {
    const client = new Client(server.url)
    const names = await client.keys('*')
    expect(names.length).toBeGreaterThan(2)
    for (const name of names) {
      expect(name).toMatch(/^tributary:(key|address|identifier):/)
      const ms = await client.pttl(name)
      expect(ms).toBeGreaterThan(0)
      expect(ms).toBeLessThanOrEqual(60_000)
    }
    client.disconnect()
  })

  it('counts in each instance alone or responds 503 while Redis is unavailable, as configured, and shares counts again afterwards', async () => {
    const [alone, closed] = [await instance('open', 250), await instance('closed', 250)]
    const key = await account('outage')
    const other429 = await account('outage-closed')
    await read(alone, key)
    await read(closed, other429)
    messages.length = 0
    for (const [fail, repair] of [
      [server.pause, async () => server.resume()],
      [server.kill, server.start],
    ] as const) {
      await fail()
      const statuses = []
      for (let count = 0; count < 20; count++) statuses.push((await read(alone, key)).statusCode)
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6)
      expect(new Set(statuses)).toEqual(new Set(fail === server.pause ? [200, 429] : [429]))
      const refused = await read(closed, other429)
      expect([refused.statusCode, refused.json().error]).toEqual([503, 'unavailable'])
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      const unready = await closed.inject('/readyz')
      expect([unready.statusCode, unready.json().message]).toEqual([503, 'Not ready: Redis did not respond.'])
      expect((await alone.inject('/readyz')).statusCode).toBe(200)
      await repair()
      await expect.poll(async () => (await read(closed, other429)).statusCode, { timeout: 20_000 }).not.toBe(503)
    }
    await expect
      .poll(() => messages.filter((line) => line === 'Redis is available again.').length)
      .toBeGreaterThanOrEqual(2)
    expect(messages.filter((line) => line.startsWith('Redis is unavailable: ')).length).toBeLessThanOrEqual(8)
  })
})
