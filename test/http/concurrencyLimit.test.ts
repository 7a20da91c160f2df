import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ConcurrencyLimiter } from '../../src/http/concurrencyLimit.ts'
import type { App } from '../../src/http/context.ts'
import { openTelemetry } from '../../src/http/telemetry.ts'
import { openProbe, type Probe } from './probe.ts'

/** Answers of the slow route that wait to leave. */
const held = new EventEmitter().setMaxListeners(0)
let underWay = 0
let mostUnderWay = 0
let probe: Probe
let url: string
const metrics = openTelemetry()

function slowRoute(app: App): void {
  app.get('/slow', { config: { scope: 'read:clicks' } }, async ({ signal }) => {
    underWay += 1
    mostUnderWay = Math.max(mostUnderWay, underWay)
    await once(held, 'leave', { signal }).finally(() => {
      underWay -= 1
    })
    return { done: true }
  })
  app.get('/fast', { config: { scope: 'read:clicks' } }, () => ({ done: true }))
}

beforeAll(async () => {
  probe = await openProbe({ routes: [slowRoute], telemetry: metrics })
  url = await probe.app.listen({ port: 0 })
})
afterAll(() => probe.close())

const ask = async (path: string, key: string) =>
  (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `ApiKey ${key}` } })).status

/** Lets everything leave until a promise is settled. */
async function letLeave<T>(promise: Promise<T>): Promise<T> {
  const leaving = setInterval(() => held.emit('leave'), 5)
  try {
    return await promise
  } finally {
    clearInterval(leaving)
  }
}

describe('the reads of an account', () => {
  it('run eight at a time, the next ones wait their turn and are all answered', async () => {
    const key = await probe.key('busy')
    mostUnderWay = 0
    const answers = Promise.all(Array.from({ length: 60 }, () => ask('/slow', key)))
    await expect.poll(() => underWay).toBe(8)
    expect(new Set(await letLeave(answers))).toEqual(new Set([200]))
    expect(mostUnderWay).toBe(8)
  })

  it('keep nobody else waiting', async () => {
    const [busy, idle] = [await probe.key('one'), await probe.key('two')]
    const answers = Promise.all(Array.from({ length: 20 }, () => ask('/slow', busy)))
    await expect.poll(() => underWay).toBe(8)
    expect(await ask('/fast', idle)).toBe(200)
    await letLeave(answers)
  })

  it('are refused with 429, at once, when too many wait', async () => {
    const key = await probe.key('flood')
    const statuses: number[] = []
    const answers = Promise.all(
      Array.from({ length: 8 + 128 + 20 }, async () => statuses.push(await ask('/slow', key))),
    )
    await expect.poll(() => statuses.length, { timeout: 4_000 }).toBe(20)
    expect(new Set(statuses)).toEqual(new Set([429]))
    await letLeave(answers)
    expect(statuses.filter((status) => status === 200)).toHaveLength(8 + 128)
    const text = await metrics.registry.metrics()
    expect(text).toContain('rate_limit_denials_total{limit="queries"} 20')
  })

  it('are refused with 429 when they have waited for 5 s', async () => {
    vi.useFakeTimers()
    try {
      const turns = new ConcurrencyLimiter(1)
      const { signal } = new AbortController()
      await turns.acquire('acme', signal)
      const refused = expect(turns.acquire('acme', signal)).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
      vi.advanceTimersByTime(4_999)
      const patient = turns.acquire('acme', signal)
      vi.advanceTimersByTime(1)
      await refused
      turns.release('acme')
      await patient
    } finally {
      vi.useRealTimers()
    }
  })

  it('leave the line when their callers hang up, under way or waiting', async () => {
    const key = await probe.key('leaver')
    const { port } = probe.app.server.address() as AddressInfo
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(`GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\n\r\n`)
      return socket
    })
    await expect.poll(() => underWay).toBe(8)
    for (const socket of sockets) socket.destroy()
    expect(await ask('/fast', key)).toBe(200)
    await expect.poll(() => underWay).toBe(0)
    mostUnderWay = 0
    const answers = Promise.all(Array.from({ length: 12 }, () => ask('/slow', key)))
    await expect.poll(() => underWay).toBe(8)
    expect(new Set(await letLeave(answers))).toEqual(new Set([200]))
    expect(mostUnderWay).toBe(8)
  })
})
