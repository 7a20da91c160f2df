// @module-tag all

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Redis as Client } from 'ioredis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { packageRoot } from '../../src/package.ts'
import { clickOf, conversionOf, openTestFeed, token } from '../feed/openFeed.ts'
import { useOpened, useTestStores } from '../kit/fixtures.ts'
import { hasRedis, startRedis } from '../kit/redis.ts'

const stream = 'tributary:rows'
/** Of the first entry of the stream. */
const firstMs = Date.UTC(2026, 10, 21)

describe.skipIf(!hasRedis())('docs/examples/redisToFeed.mjs', () => {
  const stores = useTestStores()
  const redis = useOpened(() => startRedis())
  beforeAll(() => createAccount(stores.postgres, { id: 'acme', name: 'acme', plan: 'scale', currency: 'EUR' }))

  const select = async (query: string) =>
    await (await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })).json()

  it('loses nothing, and keeps the order of states, when it is killed at each step', { tags: 'long' }, async () => {
    const { app, close } = openTestFeed(stores)
    onTestFinished(close)
    const feed = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = new Client(redis.url)
    onTestFinished(() => void client.disconnect())
    const ids: string[] = []
    const refused: string[][] = []
    const add = async (...fields: string[]) => {
      const id = `${firstMs + ids.length * 1_000}-0`
      ids.push(id)
      await client.xadd(stream, id, ...fields)
      return id
    }
    const refuse = async (row: string, ...fields: string[]) =>
      refused.push([await add('tracker', 't1', ...fields), row])
    const last = { id: '', status: '' }
    const addEntries = async (round: number) => {
      last.status = ['pending', 'approved', 'hold'][round % 3] ?? ''
      // JSON.parse rounds such an id.
      const row = JSON.stringify(conversionOf('acme', 'v', { status: last.status })).replace(
        '"v"',
        '1234567890123456789',
      )
      const clicks = [0, 1].map((n) => JSON.stringify(clickOf('acme', `c${round}-${n}`)))
      last.id = await add('rows', [clicks[0], row].join('\n\n'))
      const wrong = JSON.stringify(clickOf('acme', `w${round}`, { country: 'germany' }))
      await refuse(wrong, 'rows', `${clicks[1]}\n${wrong}\n`)
      await refuse('x', 'row', 'x')
    }
    const isDone = async () => {
      const [info] = (await client.xinfo('GROUPS', stream)) as unknown[][]
      const value = (name: string) => info?.[info.indexOf(name) + 1]
      return value('pending') === 0 && value('last-delivered-id') === ids.at(-1)
    }

    let steps = 0
    let wasKilled = true
    for (; wasKilled; steps += 1) {
      await addEntries(steps)
      const mover = await startMover({ redis: redis.url, feed }, steps)
      await expect.poll(async () => mover.isKilled() || (await isDone()), { timeout: 60_000 }).toBe(true)
      wasKilled = mover.isKilled()
      await mover.end()
    }
    // Each of these commands and requests was lost, and the response to each.
    expect(steps).toBeGreaterThan(12)
    expect(await select('SELECT count() AS clicks, uniqExact(id) AS ids FROM clicks')).toEqual([
      { clicks: 2 * steps, ids: 2 * steps },
    ])
    const query = 'SELECT id, status, toUnixTimestamp64Milli(updated_at) AS at FROM conversions FINAL'
    expect(await select(query)).toEqual([
      { id: '1234567890123456789', status: last.status, at: Number.parseInt(last.id, 10) },
    ])
    const rejected = (await client.xrange(`${stream}:rejected`, '-', '+')).map(([, fields]) => fields)
    // A kill before the acknowledgement repeats a row.
    const unique = [...new Map(rejected.map((fields) => [`${fields}`, fields])).values()].sort()
    expect(unique.map(([, id, , , , , , row]) => [id, row])).toEqual(refused)
    expect(unique.slice(0, 2)).toEqual([
      ['id', ids[1], 'reason', expect.stringMatching(/^country: /), 'tracker', 't1', 'rows', refused[0]?.[1]],
      ['id', ids[2], 'reason', 'the entry has no rows', 'tracker', 't1', 'row', 'x'],
    ])
  })
})

/** Starts the script behind proxies, and kills it instead of one part of a request or response, after this number of parts. */
async function startMover(urls: { redis: string; feed: string }, stepsBefore: number) {
  let left = stepsBefore
  let isArmed = false
  const kill = (bytes: Buffer) => {
    // Before, the client says hello.
    isArmed ||= bytes.toString('latin1').includes('xgroup')
    left -= isArmed ? 1 : 0
    if (left < 0) child.kill('SIGKILL')
    return left < 0
  }
  const sockets = new Set<Socket>()
  const proxyOf = async (url: string) => {
    const server = createServer((incoming) => {
      const outgoing = connect(Number(new URL(url).port), '127.0.0.1')
      for (const [from, to] of [[incoming, outgoing] as const, [outgoing, incoming] as const]) {
        sockets.add(from)
        from.on('data', (bytes) => kill(bytes) || to.write(bytes))
        from.on('error', () => {}).on('close', () => to.destroy())
      }
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as { port: number }
    return { server, url: Object.assign(new URL(url), { port }).href.replace(/\/$/, '') }
  }
  const [redis, feed] = await Promise.all([proxyOf(urls.redis), proxyOf(urls.feed)])
  const script = join(packageRoot, 'docs/examples/redisToFeed.mjs')
  const env = { PATH: process.env.PATH, REDIS_URL: redis.url, FEED_URL: feed.url, FEED_TOKEN: token }
  const child = spawn(process.execPath, [script, stream], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(child, 'exit')
  return {
    isKilled: () => left < 0,
    async end() {
      child.kill('SIGKILL')
      await exited
      for (const socket of sockets) socket.destroy()
      redis.server.close()
      feed.server.close()
    },
  }
}
