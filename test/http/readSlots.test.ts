import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { openReadSlots } from '../../src/http/accessControl.ts'
import type { App } from '../../src/http/context.ts'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { useTestApp } from '../kit/app.ts'

/** Emits `release` to let held responses be sent. */
const held = new EventEmitter().setMaxListeners(0)
let inFlight = 0
let mostInFlight = 0
let url: string
const metrics = openMetrics()
const api = useTestApp({ routes: [slowRoute], metrics })

function slowRoute(app: App): void {
  app.get('/slow', { config: { scope: 'read:clicks' } }, async ({ signal }) => {
    inFlight += 1
    mostInFlight = Math.max(mostInFlight, inFlight)
    await once(held, 'release', { signal }).finally(() => {
      inFlight -= 1
    })
    return { done: true }
  })
  app.get('/fast', { config: { scope: 'read:clicks' } }, () => ({ done: true }))
}

beforeAll(async () => {
  url = await api.app.listen({ port: 0 })
})

const request = async (path: string, key: string) =>
  (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `ApiKey ${key}` } })).status

/** Releases held responses until a promise is settled. */
async function releaseUntil<T>(promise: Promise<T>): Promise<T> {
  const releasing = setInterval(() => held.emit('release'), 5)
  try {
    return await promise
  } finally {
    clearInterval(releasing)
  }
}

describe('the reads of an account', () => {
  it('runs eight reads of an account at a time; queued reads follow and all get a response', async () => {
    const key = await api.account('busy')
    mostInFlight = 0
    const responses = Promise.all(Array.from({ length: 60 }, () => request('/slow', key)))
    await expect.poll(() => inFlight).toBe(8)
    expect(new Set(await releaseUntil(responses))).toEqual(new Set([200]))
    expect(mostInFlight).toBe(8)
  })

  it('a busy account does not delay other accounts', async () => {
    const [busy, idle] = [await api.account('one'), await api.account('two')]
    const responses = Promise.all(Array.from({ length: 20 }, () => request('/slow', busy)))
    await expect.poll(() => inFlight).toBe(8)
    expect(await request('/fast', idle)).toBe(200)
    await releaseUntil(responses)
  })

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
    try {
      const limiter = openReadSlots(1)
      const { signal } = new AbortController()
      const release = await limiter.acquire('acme', signal)
      const refused = expect(limiter.acquire('acme', signal)).rejects.toMatchObject({
        code: 'rate_limited',
        status: 429,
      })
      vi.advanceTimersByTime(4_999)
      const queued = limiter.acquire('acme', signal)
      vi.advanceTimersByTime(1)
      await refused
      release()
      await queued
    } finally {
      vi.useRealTimers()
    }
  })

  it('releases running and queued reads when their clients disconnect', async () => {
    const key = await api.account('disconnecting')
    const { port } = api.app.server.address() as AddressInfo
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(`GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\n\r\n`)
      return socket
    })
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
