import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { App, RouteContext } from '../../src/http/context.ts'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { openReadSlots } from '../../src/http/readSlots.ts'
import { makeKey } from '../kit/accounts.ts'
import { useTestApp } from '../kit/app.ts'
import { openRaw, rawGet } from '../kit/rawConnection.ts'

/** Emits `release` to let held responses be sent. */
const held = new EventEmitter().setMaxListeners(0)
let inFlight = 0
let mostInFlight = 0
/** Of the queries that do not end when their client disconnects. */
const order: string[] = []
let url: string
const metrics = openMetrics()
const api = useTestApp({ routes: [routes], metrics })

function routes(app: App, { streaming }: RouteContext): void {
  app.get('/slow', { config: { scope: 'read:clicks' } }, async ({ signal }) => {
    inFlight += 1
    mostInFlight = Math.max(mostInFlight, inFlight)
    await once(held, 'release', { signal }).finally(() => {
      inFlight -= 1
    })
    return { done: true }
  })
  app.get('/query', { config: { scope: 'read:clicks' } }, async ({ signal }) => {
    signal.addEventListener('abort', () => order.push('disconnected'))
    order.push('started')
    await once(held, 'release')
    order.push('ended')
    return { done: true }
  })
  const servesView = () => true
  const file = { resource: 'rows', accountId: 'acme', format: 'ndjson', csv: {} } as const
  app.get('/fast', { config: { scope: 'read:clicks', servesView } }, () => ({ done: true }))
  app.get('/endless', { config: { scope: 'read:clicks', servesView } }, (request, reply) =>
    streaming.send(request, reply, file, async function* (signal) {
      while (!signal.aborted) yield Buffer.alloc(65_536, 'x')
    }),
  )
}

beforeAll(async () => {
  url = await api.app.listen({ port: 0 })
})

const request = async (path: string, key: string) =>
  (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `ApiKey ${key}` } })).status

function disconnectable(path: string, key: string, count: number): Socket[] {
  const { port } = api.app.server.address() as AddressInfo
  return Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(rawGet(`/api/v1${path}`, key))
    return socket
  })
}

/** Releases held responses until a promise is settled. */
async function releaseUntil<T>(promise: Promise<T>): Promise<T> {
  const releasing = setInterval(() => held.emit('release'), 5)
  try {
    return await promise
  } finally {
    clearInterval(releasing)
  }
}

/** Requests an endless export, and reads only the status of its response. The connection stays open until the test ends. */
async function startExport(key?: string): Promise<number> {
  const { socket, received } = await openRaw(api.app, rawGet('/api/v1/endless', key))
  onTestFinished(() => void socket.destroy())
  await expect.poll(received).toMatch(/^HTTP\/1\.1 \d+ /)
  socket.pause()
  return Number(received().slice(9, 12))
}

describe('the reads of an account', () => {
  it('responds 429 immediately when the queue is full', async () => {
    const key = await api.account('flood')
    // No queued read reaches the end of its wait.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const statuses: number[] = []
    try {
      const responses = Promise.all(
        Array.from({ length: 8 + 128 + 20 }, async () => statuses.push(await request('/slow', key))),
      )
      await expect.poll(() => statuses.length).toBe(20)
      expect(new Set(statuses)).toEqual(new Set([429]))
      await releaseUntil(responses)
    } finally {
      vi.useRealTimers()
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(8 + 128)
    const text = await metrics.registry.metrics()
    expect(text).toContain('rate_limit_denials_total{limit="queries"} 20')
  })

  it('responds 429 after 5 s in the queue', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const limiter = openReadSlots(1)
    const { signal } = new AbortController()
    await limiter.acquire('acme', signal)
    const refused = expect(limiter.acquire('acme', signal)).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
    })
    vi.advanceTimersByTime(5_000)
    await refused
  })

  it('keeps the slot of a client that has disconnected until its query has ended, and does not delay other accounts', async () => {
    const [key, other] = [await api.account('hasty'), await api.account('patient')]
    const sockets = disconnectable('/query', key, 8)
    await expect.poll(() => order).toHaveLength(8)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => order).toHaveLength(16)
    const next = request('/fast', key).then(() => order.push('next'))
    // Without the slots of the queries the next read would have its response before these.
    for (let count = 0; count < 5; count++) expect(await request('/fast', other)).toBe(200)
    held.emit('release')
    await next
    expect(order.slice(16)).toEqual([...Array(8).fill('ended'), 'next'])
  })

  it('runs eight reads of an account at a time, and releases running and queued reads when their clients disconnect', async () => {
    const key = await api.account('disconnecting')
    const sockets = disconnectable('/slow', key, 100)
    await expect.poll(() => inFlight).toBe(8)
    for (const socket of sockets) socket.destroy()
    expect(await request('/fast', key)).toBe(200)
    await expect.poll(() => inFlight).toBe(0)
    mostInFlight = 0
    const responses = Promise.all(Array.from({ length: 12 }, () => request('/slow', key)))
    await expect.poll(() => inFlight).toBe(8)
    expect(new Set(await releaseUntil(responses))).toEqual(new Set([200]))
    expect(mostInFlight).toBe(8)
  })
})

it('keys that see a part have slots of their own, which are not those of their account', async () => {
  const full = await api.account('shared')
  const [own, other] = await Promise.all(
    ['a', 'b'].map((value) =>
      makeKey(api.stores, 'shared', undefined, { view: { filters: { sub1: [value] }, hidden: [] } }),
    ),
  )
  const reads = disconnectable('/slow', full, 8)
  await expect.poll(() => inFlight).toBe(8)
  expect(await request('/fast', own?.key ?? '')).toBe(200)
  for (const socket of reads) socket.destroy()
  const statuses: number[] = []
  for (const key of [full, full, own?.key, own?.key, own?.key, other?.key]) statuses.push(await startExport(key))
  expect(statuses).toEqual([200, 200, 200, 200, 429, 200])
})

it('a server allows two exports per account until half of the slots are taken, then one, so that twelve accounts can export', async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, (_, n) => api.account(`exporting-${n}`)))
  const statuses: number[] = []
  for (const account of [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]) statuses.push(await startExport(keys[account]))
  const [ok, overLimit, full] = [200, 429, 503]
  expect(statuses).toEqual([ok, ok, overLimit, ok, ok, ok, ok, ok, overLimit, ok, ok, ok, ok, ok, full])
})
