// @module-tag all

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Redis as Client } from 'ioredis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { feedRedis } from '../../src/feed/redis.ts'
import { openRedisStream } from '../../src/stores/redisStream.ts'
import { exitOf, start as startCommand } from '../cli/runCommand.ts'
import { useOpened, useTestStores } from '../kit/fixtures.ts'
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts'
import { freePort } from '../kit/serverProcess.ts'
import { withWriter } from '../writer/withWriter.ts'
import { clickOf, conversionOf, openTestFeed, token } from './openFeed.ts'

describe.skipIf(!hasRedis())('a feed of a stream', () => {
  const stores = useTestStores()
  const redis = useOpened<TestRedis & { client: Client }>(async () => {
    const server = await startRedis()
    const client = new Client(server.url, { maxRetriesPerRequest: null })
    client.on('error', () => {})
    const close = () => {
      client.disconnect()
      server.close()
    }
    return { ...server, client, close }
  })
  beforeAll(async () => {
    for (const id of ['acme', 'beta'])
      await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'EUR' })
  })

  const ndjson = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
  const add = (stream: string, ...rows: object[]) => redis.client.xadd(stream, '*', 'rows', ndjson(rows))
  const pending = async (stream: string) => Number(((await redis.client.xpending(stream, 'tributary')) as unknown[])[0])
  const rejectedOf = async (stream: string) => {
    const entries = (await redis.client.xrange(`${stream}:rejected`, '-', '+')) as [string, string[]][]
    return entries.map(([, [, id, , reason, , row]]) => ({ id, reason, row }))
  }

  async function select<Row>(query: string): Promise<Row[]> {
    return await (await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })).json<Row>()
  }
  const clicksOf = async (prefix: string) =>
    (
      await select<{ id: string }>(
        `SELECT concat(account_id, ' ', id) AS id FROM clicks WHERE startsWith(clicks.id, '${prefix}') ORDER BY id`,
      )
    ).map(({ id }) => id)

  /** Starts a feed of a stream, which ends with the test unless it is ended before. */
  async function start(stream: string, { isTrimmed = false, url = redis.url } = {}) {
    const feed = openTestFeed(stores)
    const [stop, end] = [new AbortController(), new AbortController()]
    const warnings: string[] = []
    const signals = { signal: stop.signal, ended: end.signal }
    const connection = await openRedisStream(url, stream, (line) => void warnings.push(line), signals)
    const running = feedRedis(feed.feed, connection, { stream, isTrimmed, signal: stop.signal })
    running.catch(() => {})
    let ended: Promise<void> | undefined
    const close = () => {
      ended ??= (async () => {
        stop.abort(new Error('The test has ended.'))
        const drain = await running
        feed.feed.queue.close()
        await drain()
        end.abort(new Error('The test has ended.'))
        connection.close()
        await feed.close()
      })()
      return ended
    }
    onTestFinished(close)
    return { ...feed, close, warnings }
  }

  it('stores and acknowledges what was added before and after its start, and says that Redis may lose entries', async () => {
    await add('s1', clickOf('acme', 'a1'), clickOf('beta', 'a2'))
    const { warnings } = await start('s1')
    await expect.poll(() => clicksOf('a')).toEqual(['acme a1', 'beta a2'])
    await add('s1', clickOf('acme', 'a3'))
    await expect.poll(() => clicksOf('a')).toHaveLength(3)
    await expect.poll(() => pending('s1')).toBe(0)
    expect(await redis.client.xlen('s1')).toBe(2)
    expect(warnings).toEqual(['Redis has appendonly no: it loses entries when it ends. Set appendonly yes.'])
  })

  it('takes the time of an entry as updatedAt, and of equal times the later entry and row', async () => {
    const state = (status: string) => conversionOf('acme', 'r1', { status })
    const addAt = (id: string, ...rows: object[]) => redis.client.xadd('s2', id, 'rows', ndjson(rows))
    await addAt('1764000000000-0', state('pending'))
    await addAt('1764000000000-1', state('declined'), state('approved'))
    // Ids that are numbers of more digits than a double has.
    const numbered = (first: number, status: string) =>
      ndjson([conversionOf('acme', 'r2', { status })]).replace('"r2"', `${first}234567890123456789`)
    const addText = (id: string, text: string) => redis.client.xadd('s2', id, 'rows', text)
    await addText('1764000000000-2', [1, 2, 3].map((first) => numbered(first, 'pending')).join('\n'))
    await addText('1764000000000-3', numbered(3, 'approved'))
    // Costs without an id, whose ids are derived: each is the first one of its entry.
    const spent = (cost: number, fields: object) => {
      return {
        accountId: 'acme',
        resource: 'costs',
        spentAt: '2025-11-24T00:00:00Z',
        campaignId: 'of-stream',
        cost,
        ...fields,
      }
    }
    await addAt('1764000000000-4', spent(1, { sub1: 'a' }), spent(2, { sub1: 'b' }), spent(3, { sub1: 'c' }))
    await addAt(
      '1764000000000-5',
      spent(20, { sub1: 'b' }),
      spent(30, { sub1: 'c' }),
      spent(31, { subIds: { sub1: 'c' } }),
    )
    const { close } = await start('s2')
    await expect.poll(() => pending('s2')).toBe(0)
    const spentByStream =
      "SELECT sub1, toFloat64(cost) AS cost FROM costs FINAL WHERE campaign_id = 'of-stream' ORDER BY sub1"
    await expect
      .poll(() => select(spentByStream))
      .toEqual([
        { sub1: 'a', cost: 1 },
        { sub1: 'b', cost: 20 },
        { sub1: 'c', cost: 31 },
      ])
    expect(await rejectedOf('s2')).toEqual([])
    await expect
      .poll(() =>
        select(`SELECT status, toUnixTimestamp64Milli(updated_at) AS at FROM conversions FINAL WHERE id = 'r1'`),
      )
      .toEqual([{ status: 'approved', at: 1764000000000 }])
    expect(
      await select(`SELECT id, status FROM conversions FINAL WHERE endsWith(id, '234567890123456789') ORDER BY id`),
    ).toEqual(
      [1, 2, 3].map((first) => ({ id: `${first}234567890123456789`, status: first === 3 ? 'approved' : 'pending' })),
    )
    await close()
    // Delivered again, as after lost acknowledgements, the older states change nothing.
    await redis.client.xgroup('SETID', 's2', 'tributary', '0')
    await start('s2')
    await expect
      .poll(async () => (await redis.client.xinfo('GROUPS', 's2')) as unknown[][])
      .toEqual([expect.arrayContaining(['1764000000000-5'])])
    await expect.poll(() => pending('s2')).toBe(0)
    expect(await select(`SELECT status FROM conversions FINAL WHERE id = 'r1'`)).toEqual([{ status: 'approved' }])
    // The last id of a stream; its sender chose it.
    const last = '18446744073709551615-0'
    await addAt(last, state('refunded'))
    const reason = `the id of the entry, ${last}, does not begin with milliseconds since 1970`
    await expect.poll(() => rejectedOf('s2')).toEqual([{ id: last, reason, row: ndjson([state('refunded')]) }])
    expect(await select(`SELECT status FROM conversions FINAL WHERE id = 'r1'`)).toEqual([{ status: 'approved' }])
  })

  it('takes the last state of several entries of one millisecond, each with several states, also when they are delivered again', async () => {
    const states = (id: string, ...statuses: string[]) => statuses.map((status) => conversionOf('acme', id, { status }))
    const addAt = (id: string, ...rows: object[]) => redis.client.xadd('s10', id, 'rows', ndjson(rows))
    await addAt('1764000000000-0', ...states('k1', 'pending', 'hold', 'approved'), ...states('k2', 'pending', 'hold'))
    await addAt('1764000000000-1', ...states('k1', 'refunded'), ...states('k2', 'approved', 'declined', 'refunded'))
    const current = () => select(`SELECT status FROM conversions FINAL WHERE id IN ('k1', 'k2')`)
    const { close } = await start('s10')
    await expect.poll(() => pending('s10')).toBe(0)
    await expect.poll(current).toEqual([{ status: 'refunded' }, { status: 'refunded' }])
    await close()
    await redis.client.xgroup('SETID', 's10', 'tributary', '0')
    await start('s10')
    await expect
      .poll(async () => (await redis.client.xinfo('GROUPS', 's10')) as unknown[][])
      .toEqual([expect.arrayContaining(['1764000000000-1'])])
    await expect.poll(() => pending('s10')).toBe(0)
    expect([await current(), await rejectedOf('s10')]).toEqual([[{ status: 'refunded' }, { status: 'refunded' }], []])
  })

  it('stores the rows of a delivery that was lost, and adds rejected rows once if the response to their addition was lost', async () => {
    const lost: string[] = []
    // Ends the connection instead of the first response that has the text, or to the first request that has it.
    const proxy = createServer((incoming) => {
      const outgoing = connect(redis.port, '127.0.0.1')
      let request = ''
      incoming.on('data', (bytes) => {
        request = `${bytes}`
        outgoing.write(bytes)
      })
      outgoing.on('data', (bytes) => {
        const text = `${bytes}`.includes('i1') ? 'delivery' : /EVAL.*i2/s.test(request) ? 'acknowledgement' : undefined
        if (text === undefined || lost.includes(text)) return incoming.write(bytes)
        lost.push(text)
        incoming.destroy()
        outgoing.destroy()
      })
      for (const [one, other] of [[incoming, outgoing] as const, [outgoing, incoming] as const])
        one.on('error', () => {}).on('close', () => other.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    onTestFinished(() => void proxy.close())
    const { port } = proxy.address() as AddressInfo
    await start('s11', { url: `redis://127.0.0.1:${port}/0` })
    await add('s11', clickOf('acme', 'i1'))
    await expect.poll(() => clicksOf('i')).toEqual(['acme i1'])
    await add('s11', { ...clickOf('acme', 'i2'), country: 'germany' })
    await expect.poll(() => lost).toEqual(['delivery', 'acknowledgement'])
    await expect.poll(() => pending('s11')).toBe(0)
    await add('s11', clickOf('acme', 'i3'))
    await expect.poll(() => clicksOf('i')).toEqual(['acme i1', 'acme i3'])
    await expect.poll(() => pending('s11')).toBe(0)
    expect(await rejectedOf('s11')).toHaveLength(1)
  })

  it('starts and trims entries while Redis has no free memory, and waits with rejected rows, and for a replica', async () => {
    const set = (name: string, value: number) => redis.client.config('SET', name, value)
    await start('s12').then(({ close }) => close())
    await add('s12', clickOf('acme', 'j1'))
    await set('maxmemory', 1)
    onTestFinished(async () => void (await Promise.all([set('maxmemory', 0), set('min-replicas-to-write', 0)])))
    const { warnings } = await start('s12', { isTrimmed: true })
    const unavailable = () => warnings.filter((line) => line.startsWith('Redis is unavailable'))
    await expect.poll(() => clicksOf('j')).toEqual(['acme j1'])
    await expect.poll(() => redis.client.xlen('s12')).toBe(0)
    expect(unavailable()).toEqual([])
    await set('maxmemory', 0)
    const rows = ndjson([{}, clickOf('acme', 'j2')])
    await redis.client.multi().xadd('s12', '*', 'rows', rows).config('SET', 'maxmemory', 1).exec()
    await expect.poll(unavailable).toEqual([expect.stringContaining('OOM')])
    await set('maxmemory', 0)
    await expect.poll(() => redis.client.xlen('s12')).toBe(0)
    expect(await rejectedOf('s12')).toHaveLength(1)
    await set('min-replicas-to-write', 1)
    await expect.poll(unavailable).toEqual([expect.anything(), expect.stringContaining('NOREPLICAS')])
    await set('min-replicas-to-write', 0)
    await add('s12', clickOf('acme', 'j3'))
    await expect.poll(() => clicksOf('j')).toEqual(['acme j1', 'acme j2', 'acme j3'])
  })

  it('adds rejected and conflicting rows to the rejected stream, once, with id, reason and row', async () => {
    const bad = { ...clickOf('acme', 'b1'), country: 'germany' }
    const id = await add('s3', clickOf('acme', 'b1', { country: 'DE' }), bad, clickOf('acme', 'b1', { country: 'FR' }))
    const empty = await redis.client.xadd('s3', '*', 'row', 'x')
    await start('s3', { isTrimmed: true })
    await expect.poll(() => redis.client.xlen('s3')).toBe(0)
    const reason = expect.stringMatching(/^country: must be two uppercase letters/)
    expect(await rejectedOf('s3')).toEqual([
      { id, reason, row: JSON.stringify(bad) },
      { id, reason: 'differs from the stored row', row: JSON.stringify(clickOf('acme', 'b1', { country: 'FR' })) },
      { id: empty, reason: 'the entry has no field rows', row: '' },
    ])
  })

  it('takes an entry of 130,000 rows, and keeps about 100,000 rejected ones', { tags: 'long' }, async () => {
    await redis.client.xadd('s9', '*', 'rows', '{}\n'.repeat(130_000))
    await start('s9', { isTrimmed: true })
    await expect.poll(() => redis.client.xlen('s9'), { timeout: 20_000 }).toBe(0)
    expect(Math.round((await redis.client.xlen('s9:rejected')) / 1_000)).toBe(100)
  })

  it('reads entries again that an earlier process did not acknowledge', async () => {
    await redis.client.xgroup('CREATE', 's4', 'tributary', '0', 'MKSTREAM')
    await add('s4', clickOf('acme', 'd1'))
    await redis.client.xreadgroup('GROUP', 'tributary', 'feed', 'STREAMS', 's4', '>')
    expect(await pending('s4')).toBe(1)
    await start('s4')
    await expect.poll(() => clicksOf('d')).toEqual(['acme d1'])
    await expect.poll(() => pending('s4')).toBe(0)
  })

  it('leaves entries of an account that another writer has pending, stores all others, and keeps the order afterwards', async () => {
    const name = (text: string) => ({ accountId: 'beta', resource: 'campaigns', id: 'spring', name: text })
    await withWriter(stores, 'beta', async () => {
      await add('s5', name('first'), clickOf('beta', 'e1'))
      await start('s5')
      await expect.poll(() => pending('s5')).toBe(1)
      for (let index = 0; index < 5; index += 1) await add('s5', name(`name ${index}`))
      await add('s5', clickOf('acme', 'e2'))
      await expect.poll(() => clicksOf('e')).toEqual(['acme e2'])
      await expect.poll(() => pending('s5')).toBe(6)
    })
    await expect.poll(() => pending('s5')).toBe(0)
    expect(await clicksOf('e')).toEqual(['acme e2', 'beta e1'])
    expect(await stores.postgres`SELECT name FROM campaigns WHERE account_id = 'beta'`).toEqual([{ name: 'name 4' }])
  })

  it('ends with one sentence when the key is not a stream, and names a wrong password', async () => {
    await redis.client.set('s7', 'text')
    const signals = { signal: new AbortController().signal, ended: new AbortController().signal }
    const opening = openRedisStream(redis.url, 's7', () => {}, signals)
    await expect(opening).rejects.toThrow(/^FEED_REDIS_URL, FEED_STREAM: Redis rejects a command: WRONGTYPE /)
    const stop = new AbortController()
    const refused = new URL(redis.url)
    refused.username = 'unknown'
    refused.password = 'other'
    const warned = new Promise((resolve) => {
      openRedisStream(`${refused}`, 's8', resolve, { signal: stop.signal, ended: stop.signal }).catch(() => {})
    })
    expect(await warned).toMatch(/^Redis is unavailable; no rows are read from it: .*(AUTH|WRONGPASS)/)
    stop.abort()
  })

  it('keeps the order of metadata of an account that shares an entry with an account of another writer', async () => {
    const name = (text: string) => ({ accountId: 'acme', resource: 'campaigns', id: 'autumn', name: text })
    await withWriter(stores, 'beta', async () => {
      await add('s8', name('first'), clickOf('beta', 'h1'))
      await add('s8', name('second'))
      await start('s8')
      await expect.poll(() => pending('s8')).toBe(2)
      await add('s8', name('third'), clickOf('beta', 'h2'))
      await add('s8', name('fourth'))
      await add('s8', clickOf('acme', 'h3'))
      await expect.poll(() => clicksOf('h')).toEqual(['acme h3'])
      await expect.poll(() => pending('s8')).toBe(4)
    })
    await expect.poll(() => pending('s8')).toBe(0)
    expect(await stores.postgres`SELECT name FROM campaigns WHERE account_id = 'acme'`).toEqual([{ name: 'fourth' }])
  })

  it('continues when its stream is deleted, and when Redis returns without it', async () => {
    await add('s6', clickOf('acme', 'f0'))
    const { warnings } = await start('s6')
    await expect.poll(() => clicksOf('f')).toEqual(['acme f0'])
    // The feed waits for entries at this moment.
    await redis.client.del('s6')
    await add('s6', clickOf('acme', 'f1'))
    await expect.poll(() => clicksOf('f')).toEqual(['acme f0', 'acme f1'])
    await redis.kill()
    await expect.poll(() => warnings.some((line) => line.startsWith('Redis is unavailable'))).toBe(true)
    await redis.start()
    await add('s6', clickOf('acme', 'f2'))
    await expect.poll(() => clicksOf('f')).toEqual(['acme f0', 'acme f1', 'acme f2'])
    expect(warnings.at(-1)).toBe('Redis is available again.')
  })

  it('that fails ends after the rows that wait are stored, and their senders get the results', async () => {
    const port = await freePort()
    const settings = { FEED_REDIS_URL: redis.url, FEED_STREAM: 's7', FEED_PORT: `${port}`, FEED_FLUSH_MS: '10000' }
    const child = startCommand(['feed'], { ...stores.environment, ...settings, FEED_TOKEN: token })
    onTestFinished(() => void child.kill('SIGKILL'))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
    const post = async (...rows: object[]) => {
      const response = await fetch(`http://127.0.0.1:${port}/rows`, { method: 'POST', headers, body: ndjson(rows) })
      return await response.text()
    }
    const inserted = '{"result":"inserted"}\n'
    await expect.poll(() => post(clickOf('acme', 'g1')).catch(() => '')).toBe(inserted)
    const waiting = post(clickOf('acme', 'g2'))
    expect(await post()).toBe('')
    await redis.client.set('s7', 'no stream')
    expect([await waiting, await exitOf(child)]).toEqual([inserted, 1])
  })
})
