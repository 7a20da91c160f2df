// @module-tag node

import { EventEmitter, once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Type } from '@sinclair/typebox'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/http/context.ts'
import { pipelinedMax } from '../../src/http/pipelining.ts'
import { useTestApp } from '../kit/app.ts'
import { openRaw, rawGet } from '../kit/rawConnection.ts'

/** Emits `release` to let held responses be sent. */
const held = new EventEmitter().setMaxListeners(0)
const config = { scope: 'read:clicks' } as const
let started = 0
let inFlight = 0
let mostInFlight = 0
const api = useTestApp({ routes: [routes] })
let key: string

function routes(app: App): void {
  app.get('/held', { config }, async ({ signal }) => {
    started += 1
    inFlight += 1
    mostInFlight = Math.max(mostInFlight, inFlight)
    await once(held, 'release', { signal }).finally(() => {
      inFlight -= 1
    })
    return { held: true }
  })
  app.get('/number/:n', { config, schema: { params: Type.Object({ n: Type.String() }) } }, ({ params }) => params)
  app.get('/begun', { config }, (_request, reply) => {
    const body = new Readable({ read() {} })
    body.push('begun')
    held.once('release', () => body.push(null))
    return reply.type('text/plain').send(body)
  })
}

beforeAll(async () => {
  key = await api.account('acme')
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})
beforeEach(() => {
  started = 0
  mostInFlight = 0
})

const get = (path: string) => rawGet(`/api/v1${path}`, key)
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

describe('pipelined requests', () => {
  it('handles pipelined requests one at a time', async () => {
    const connection = await openRaw(api.app, get('/held').repeat(6))
    await expect
      .poll(() => {
        held.emit('release')
        return statusesIn(connection.received())
      })
      .toEqual([200, 200, 200, 200, 200, 200])
    expect([started, mostInFlight]).toEqual([6, 1])
    connection.socket.destroy()
  })

  it('releases the reads of an account when the connection closes', async () => {
    const connection = await openRaw(api.app, get('/held').repeat(12))
    await expect.poll(() => inFlight).toBeGreaterThan(0)
    connection.socket.destroy()
    await expect.poll(() => inFlight).toBe(0)
    const reads = Array.from({ length: 8 }, () => api.get('/number/1', key))
    expect((await Promise.all(reads)).map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200))
  })

  it('closes the connection with 400 above the limit of pipelined requests, and handles none of the queued ones', async () => {
    const connection = await openRaw(api.app, get('/held').repeat(1 + pipelinedMax + 1))
    await expect.poll(connection.isClosed).toBe(true)
    expect(statusesIn(connection.received())).toEqual([400])
    expect(connection.received()).toMatch(/Connection: close[\s\S]*"error":"invalid_request"/)
    await expect.poll(() => inFlight).toBe(0)
    expect(started).toBeLessThanOrEqual(1)
  })

  it('accepts the maximum of queued requests and one in flight, and responds to them in their order', async () => {
    const numbers = Array.from({ length: 1 + pipelinedMax }, (_, n) => `${n}`)
    const connection = await openRaw(api.app, numbers.map((n) => get(`/number/${n}`)).join(''))
    const responses = () => [...connection.received().matchAll(/"n":"(\d+)"/g)].map(([, n]) => n)
    await expect.poll(responses).toEqual(numbers)
    expect(statusesIn(connection.received())).toEqual(numbers.map(() => 200))
    connection.socket.destroy()
  })

  it('closes the connection without an error when the response in flight has started', async () => {
    const connection = await openRaw(api.app, get('/begun'))
    await expect.poll(connection.received).toContain('begun')
    connection.socket.write(get('/number/1').repeat(pipelinedMax + 1))
    await expect.poll(connection.isClosed).toBe(true)
    expect(statusesIn(connection.received())).toEqual([200])
  })
})

describe('invalid HTTP after a request', () => {
  it('responds to invalid HTTP after the request before it', async () => {
    const connection = await openRaw(api.app, `${get('/held')}${get('/number/2')}no HTTP\r\n\r\n`)
    await expect.poll(() => inFlight).toBe(1)
    held.emit('release')
    await expect.poll(connection.isClosed).toBe(true)
    expect(statusesIn(connection.received())).toEqual([200, 200, 400])
    expect(connection.received()).toMatch(/"held":true[\s\S]*"n":"2"[\s\S]*"error":"invalid_request"/)
  })

  it('keeps nothing of the invalid bytes that arrive during a response', async () => {
    setFlagsFromString('--expose-gc')
    const kept: WeakRef<Buffer>[] = []
    const onError = ({ rawPacket }: { rawPacket: Buffer }) => kept.push(new WeakRef(rawPacket))
    api.app.server.on('clientError', onError)
    const connection = await openRaw(api.app, get('/begun'))
    await expect.poll(connection.received).toContain('begun')
    for (let errors = 1; errors <= 5; errors++) {
      connection.socket.write('no HTTP\r\n\r\n')
      await expect.poll(() => kept.length).toBeGreaterThanOrEqual(errors)
    }
    api.app.server.off('clientError', onError)
    runInNewContext('gc')()
    const left = kept.slice(0, 4).filter((packet) => packet.deref() !== undefined).length
    held.emit('release')
    await expect.poll(connection.isClosed).toBe(true)
    expect([left, ...statusesIn(connection.received())]).toEqual([0, 200, 400])
  })

  it('responds to invalid HTTP that arrives late after the request before it', async () => {
    const app = await api.open({ routes: [routes], arrivalMs: 300 })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const late = once(app.server, 'clientError')
    const connection = await openRaw(app, `${get('/begun')}GET /late HTTP/1.1\r\n`)
    await expect.poll(connection.received).toContain('begun')
    await late
    held.emit('release')
    await expect.poll(connection.isClosed).toBe(true)
    expect(statusesIn(connection.received())).toEqual([200, 408])
    expect(connection.received()).toMatch(/begun\r\n0\r\n\r\nHTTP\/1\.1 408 /)
  })
})

it.skipIf(!existsSync('/proc/self/fd'))('unread documentation responses hold no files open', async () => {
  const openFiles = async () => {
    const names = await readdir('/proc/self/fd')
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
    return targets.filter((target) => target.endsWith('/scalar.js'))
  }
  const path = '/api/v1/docs/page/scalar.js'
  const connection = await openRaw(api.app, rawGet(path).repeat(30))
  await expect.poll(connection.received).toContain('HTTP/1.1 200')
  connection.socket.destroy()
  // After a later response the server has processed the disconnection.
  expect((await api.app.inject(path)).statusCode).toBe(200)
  await expect.poll(openFiles).toEqual([])
})
