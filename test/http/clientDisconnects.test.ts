import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { App, RouteContext } from '../../src/http/context.ts'
import { openLog } from '../../src/http/logging.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch } from '../../src/stores/clickhouse/sql.ts'
import { openClickHouse } from '../../src/stores/cluster/connection.ts'
import type { Stores } from '../../src/stores/open.ts'
import { getFrom, useTestApp } from '../kit/app.ts'
import { openHttpServer } from '../kit/httpServer.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'
import { goodValues, isNeeded, operations } from '../kit/operations.ts'
import { openRaw, rawGet } from '../kit/rawConnection.ts'
import { runningQueries } from '../kit/rows.ts'
import { probeRoutes } from './probe.ts'

type Line = { level: number; msg: string }

const lines: Line[] = []
const destination = new Writable({
  write(chunk, _encoding, done) {
    lines.push(JSON.parse(`${chunk}`))
    done()
  },
})
const config = { scope: 'read:clicks' } as const
const file = { resource: 'rows', accountId: 'acme', format: 'csv', csv: {} } as const
let started = 0
let ended = 0
const api = useTestApp()
let app: App
let key: string

function routes(app: App, { responseCache, stores, streaming: exports }: RouteContext): void {
  const endOf = async (signal: AbortSignal) => {
    started += 1
    await once(signal, 'abort')
    ended += 1
    signal.throwIfAborted()
  }
  app.get('/waits', { config }, ({ signal }) => endOf(signal))
  app.get('/shares', { config }, (request, reply) =>
    responseCache.send(request, reply, async (signal) => {
      await endOf(signal)
      return { asOf: '' }
    }),
  )
  app.get('/exports', { config }, (request, reply) =>
    exports.send(request, reply, file, async function* (signal) {
      await endOf(signal)
      yield Buffer.alloc(0)
    }),
  )
  app.get('/streams', { config }, (_request, reply) => {
    started += 1
    const body = Readable.from(
      (async function* () {
        for (;;) yield 'more'.repeat(10_000)
      })(),
    )
    body.once('close', () => {
      ended += 1
    })
    return reply.type('text/plain').send(body)
  })
  app.get('/endless', { config }, ({ signal }) =>
    selectRows(stores.clickhouse, ch`SELECT sum(cityHash64(number)) FROM numbers()`, {
      label: 'endless',
      signal,
      settings: { max_execution_time: 600 },
    }),
  )
  app.get('/files', { config }, () => {
    throw Object.assign(new Error('EMFILE: too many open files, open /secret'), { code: 'EMFILE' })
  })
  probeRoutes(app)
}

/** Called before the next look-up of keys, which waits for it. */
let onLookUp: (() => Promise<void>) | undefined
let releaseLookUp = () => {}

function holdingLookUps(stores: Stores): Stores {
  const postgres = interceptPostgres(stores.postgres, (text, run) => {
    const held = onLookUp
    if (!held || !text.includes('FROM api_keys')) return run()
    onLookUp = undefined
    return held().then(run)
  })
  return { ...stores, postgres }
}

beforeAll(async () => {
  const log = openLog('debug', destination)
  app = await api.open({ routes: [routes], log, stores: holdingLookUps(api.stores) })
  key = await api.account('acme')
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => {
  lines.length = 0
  started = 0
  ended = 0
})

const aborted = () => lines.filter(({ msg }) => msg === 'request aborted')
const serious = () => lines.filter(({ level }) => level >= 40)

describe('a client that disconnects', () => {
  it.each(['/waits', '/shares', '/exports'])(
    'logs no error when a client disconnects during the query: %s',
    async (path) => {
      const { socket } = await openRaw(app, rawGet(`/api/v1${path}`, key))
      await expect.poll(() => started).toBe(1)
      socket.destroy()
      await expect
        .poll(aborted)
        .toEqual([expect.objectContaining({ level: 30, method: 'GET', route: `/api/v1${path}` })])
      expect([ended, serious()]).toEqual([1, []])
    },
  )

  it('logs no error when a client disconnects in the middle of its response', async () => {
    const { socket, received } = await openRaw(app, rawGet('/api/v1/streams', key))
    await expect.poll(received).toContain('more')
    socket.destroy()
    await expect.poll(() => ended).toBe(1)
    expect(serious()).toEqual([])
  })

  it('logs no error when a client disconnects in the middle of its request body', async () => {
    const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\nContent-Type: application/json\r\n`
    const { socket, received } = await openRaw(app, `${head}Expect: 100-continue\r\nContent-Length: 50\r\n\r\n{`)
    await expect.poll(received).toContain('HTTP/1.1 100 Continue')
    socket.resetAndDestroy()
    await expect.poll(() => aborted().length).toBe(1)
    expect(serious()).toEqual([])
  })

  it('releases the request of a client that disconnects during its key look-up', async () => {
    const unseen = await api.account('unseen')
    const accepted = once(app.server, 'connection')
    const isHeld = new Promise<void>((reached) => {
      onLookUp = () => {
        reached()
        return new Promise((release) => {
          releaseLookUp = release
        })
      }
    })
    const { socket } = await openRaw(app, rawGet('/api/v1/waits', unseen))
    await isHeld
    socket.destroy()
    const [connection] = (await accepted) as [Socket]
    await expect.poll(() => connection.destroyed).toBe(true)
    expect(started).toBe(0)
    releaseLookUp()
    const { socket: second } = await openRaw(app, rawGet('/api/v1/waits', key))
    await expect.poll(() => started - ended).toBe(1)
    second.destroy()
    await expect.poll(() => started - ended).toBe(0)
    expect(serious()).toEqual([])
  })
})

it('logs an error and responds 503 with Retry-After when the process is out of file descriptors', async () => {
  const response = await getFrom(app, '/files', key)
  expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } })
  expect(response.json().error).toBe('unavailable')
  expect(response.body).not.toContain('secret')
  expect(lines.map(({ msg }) => msg)).toContain('out of file descriptors: raise the limit of open files')
  expect(lines.map(({ msg }) => msg)).not.toContain('internal error')
})

it('a query ends in ClickHouse when its client disconnects', async () => {
  const running = async () => (await runningQueries(api.stores, 'endless')).length
  const { socket } = await openRaw(app, rawGet('/api/v1/endless', key))
  await expect.poll(running).toBe(1)
  socket.destroy()
  // The timeout of the query, ten minutes, would end it as well.
  await expect.poll(running).toBe(0)
})

it('every read of ClickHouse ends its queries when its client disconnects', async () => {
  // Receives queries and never responds.
  const received = new Set<object>()
  const silent = await openHttpServer((request) => {
    received.add(request)
    request.socket.once('close', () => received.delete(request))
  })
  const clickhouse = openClickHouse({ url: silent.url, username: 'x', password: 'x', database: 'x' })
  const app = await api.open({ stores: { ...api.stores, clickhouse } })
  await app.listen({ port: 0 })
  const reads = operations.filter(({ method }) => method === 'GET')
  const tested: string[] = []
  for (const operation of reads) {
    const needed = operation.query.filter(isNeeded).map(({ name }) => `${name}=${goodValues[name]}`)
    const path = `${operation.path.replace('{id}', 'mine')}?${needed.join('&')}`
    const responded = getFrom(app, path, key)
    const outcome = await Promise.race([
      responded.then(() => 'responded'),
      expect.poll(() => received.size).toBeGreaterThan(0),
    ])
    if (outcome === 'responded') continue
    for (const request of [...received]) (request as { socket: { destroy(): void } }).socket.destroy()
    await responded
    await expect.poll(() => received.size, { message: path }).toBe(0)
    const { socket } = await openRaw(app, rawGet(`/api/v1${path}`, key))
    await expect.poll(() => received.size, { message: path }).toBeGreaterThan(0)
    socket.destroy()
    await expect.poll(() => received.size, { message: path }).toBe(0)
    tested.push(operation.path)
  }
  expect(tested).toEqual(expect.arrayContaining(['/clicks', '/conversions', '/stats/daily', '/reports']))
  await app.close()
  await clickhouse.close()
  await silent.close()
})
