// @module-tag node

import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { openClickHouse } from '../../src/stores/clickhouse/connection.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch } from '../../src/stores/clickhouse/sql.ts'
import { testNowMs } from '../kit/app.ts'
import { goodValues, isNeeded, operations } from '../kit/operations.ts'
import { openProbe, type Probe } from './probe.ts'

let probe: Probe
let key: string

beforeAll(async () => {
  probe = await openProbe({
    routes: [
      (app, { stores }) =>
        app.get('/endless', { config: { scope: 'read:clicks' } }, ({ signal }) =>
          selectRows(stores.clickhouse, ch`SELECT sum(cityHash64(number)) FROM numbers()`, {
            label: 'endless',
            signal,
            settings: { max_execution_time: 600 },
          }),
        ),
    ],
  })
  key = await probe.key('acme')
})
afterAll(() => probe.close())

/** Sends a request over a new connection. @returns a function that disconnects */
async function startRequest(app: App, path: string): Promise<() => void> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\n\r\n`)
  return () => socket.destroy()
}

it('a query ends in ClickHouse when its client disconnects', async () => {
  await probe.app.listen({ port: 0 })
  const running = async () => {
    const response = await probe.stores.clickhouse.client.query({
      query: `SELECT query_id FROM system.processes WHERE Settings['log_comment'] = 'endless'`,
      format: 'JSONEachRow',
    })
    return (await response.json()).length
  }
  const disconnect = await startRequest(probe.app, '/endless')
  await expect.poll(running).toBe(1)
  disconnect()
  // The timeout of the query, ten minutes, would end it as well.
  await expect.poll(running).toBe(0)
})

it('every read of ClickHouse ends its queries when its client disconnects', async () => {
  // Receives queries and never responds.
  const received = new Set<object>()
  const silent = createServer((request) => {
    received.add(request)
    request.socket.once('close', () => received.delete(request))
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const clickhouse = openClickHouse({ url: `http://127.0.0.1:${port}`, username: 'x', password: 'x', database: 'x' })
  const { stores } = probe
  const app = await buildApp({ settings: stores.settings, stores: { ...stores, clickhouse }, now: () => testNowMs })
  await app.listen({ port: 0 })
  const reads = operations.filter(({ method }) => method === 'GET')
  const tested: string[] = []
  for (const operation of reads) {
    const needed = operation.query.filter(isNeeded).map(({ name }) => `${name}=${goodValues[name]}`)
    const path = `${operation.path.replace('{id}', 'mine')}?${needed.join('&')}`
    const responded = app.inject({ url: `/api/v1${path}`, headers: { authorization: `ApiKey ${key}` } })
    const outcome = await Promise.race([
      responded.then(() => 'responded'),
      expect.poll(() => received.size).toBeGreaterThan(0),
    ])
    if (outcome === 'responded') continue
    for (const request of [...received]) (request as { socket: { destroy(): void } }).socket.destroy()
    await responded
    await expect.poll(() => received.size, { message: path }).toBe(0)
    const disconnect = await startRequest(app, path)
    await expect.poll(() => received.size, { message: path }).toBeGreaterThan(0)
    disconnect()
    await expect.poll(() => received.size, { message: path }).toBe(0)
    tested.push(operation.path)
  }
  expect(tested).toEqual(expect.arrayContaining(['/clicks', '/conversions', '/stats/daily', '/reports']))
  await app.close()
  await clickhouse.close()
  silent.closeAllConnections()
  silent.close()
})
