// @module-tag node

import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/http/context.ts'
import type { ReaderPace } from '../../src/http/slowReaders.ts'
import { useTestApp } from '../kit/app.ts'
import { openRaw, type RawConnection, rawGet } from '../kit/rawConnection.ts'

const config = { scope: 'read:clicks' } as const
const chunk = Buffer.alloc(65_536, 'x')
/** More than the socket buffers of a client that reads nothing. */
const large = Buffer.alloc(40_000_000, 'x')
const smallChunks = 10
let elapsedMs = 0
const api = useTestApp()
let key: string
let app: App
const connections: RawConnection[] = []

function routes(app: App): void {
  app.get('/endless', { config }, (_request, reply) => {
    const body = new Readable({
      read() {
        this.push(chunk)
      },
    })
    return reply.type('text/plain').send(body)
  })
  app.get('/large', { config }, (_request, reply) => reply.type('text/plain').send(large))
  app.get('/slow', { config }, (_request, reply) => {
    async function* small() {
      for (let count = 0; count < smallChunks; count++) {
        await pause(20)
        elapsedMs += 100_000
        yield 'small '
      }
    }
    return reply.type('text/plain').send(Readable.from(small()))
  })
}

beforeAll(async () => {
  key = await api.account('acme')
})
afterEach(() => {
  for (const { socket } of connections.splice(0)) socket.destroy()
})

const unlimitedMs = Number.MAX_SAFE_INTEGER

/** Sends a request to a server with that minimum pace, over a paused connection. Its time passes only as the test says. */
async function request(path: string, pace: Partial<ReaderPace>): Promise<RawConnection> {
  app = await api.open({
    routes: [routes],
    pace: {
      stallMs: unlimitedMs,
      spanMs: unlimitedMs,
      spanBytesMin: 1,
      checkMs: 10,
      monotonicMs: () => elapsedMs,
      ...pace,
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const connection = await openRaw(app, rawGet(`/api/v1${path}`, key))
  connection.socket.pause()
  connections.push(connection)
  return connection
}

const isConnected = () =>
  new Promise<boolean>((resolve) => app.server.getConnections((_error, count) => resolve(count > 0)))

/** The same after half a minute. */
function isConnectedLater(): Promise<boolean> {
  elapsedMs += 30_000
  return isConnected()
}

describe('a client that does not read', () => {
  it('disconnects a client that does not read a response sent in one write', async () => {
    await request('/large', { stallMs: 60_000 })
    await expect.poll(isConnected).toBe(true)
    await expect.poll(isConnectedLater).toBe(false)
  })

  it('disconnects a client that reads only a little now and then', async () => {
    const { socket } = await request('/endless', { spanMs: 60_000, spanBytesMin: 1_000_000_000 })
    const reading = setInterval(() => socket.read(1_000), 10)
    await expect.poll(isConnected).toBe(true)
    await expect.poll(isConnectedLater).toBe(false)
    clearInterval(reading)
  })
})

it('a server sends a whole response in one write to a client that reads, over any number of checks', async () => {
  const connection = await request('/large', { stallMs: 60_000, spanMs: 60_000, spanBytesMin: 100_000 })
  let bytes = 0
  // A hundred pauses, each of several checks, in eight minutes.
  connection.socket.removeAllListeners('data').on('data', (part) => {
    bytes += part.length
    if (bytes > (large.length / 100) * pauses) {
      pauses += 1
      elapsedMs += 5_000
      connection.socket.pause()
      setTimeout(() => connection.socket.resume(), 20)
    }
  })
  let pauses = 1
  connection.socket.resume()
  await expect.poll(() => bytes).toBeGreaterThan(large.length)
})

it('a server does not disconnect a client because the server is slow', async () => {
  const connection = await request('/slow', { stallMs: 60_000, spanMs: 60_000, spanBytesMin: 1_000_000 })
  connection.socket.resume()
  await expect.poll(connection.received).toContain('\r\n0\r\n\r\n')
  expect(connection.received().match(/small/g)).toHaveLength(smallChunks)
})
