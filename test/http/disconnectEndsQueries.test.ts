// @module-tag node

import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/http/context.ts'
import { openClickHouse } from '../../src/stores/clickhouse/connection.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch } from '../../src/stores/clickhouse/sql.ts'
import { getFrom, useTestApp } from '../kit/app.ts'
import { openHttpServer } from '../kit/httpServer.ts'
import { goodValues, isNeeded, operations } from '../kit/operations.ts'
import { openRaw, rawGet } from '../kit/rawConnection.ts'
import { runningQueries } from '../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
})

/** Sends a request over a new connection. @returns a function that disconnects */
async function startRequest(app: App, path: string): Promise<() => void> {
  const { socket } = await openRaw(app, rawGet(`/api/v1${path}`, key))
  return () => socket.destroy()
}

it('a query ends in ClickHouse when its client disconnects', async () => {
  const app = await api.open({
    routes: [
      (routes, { stores }) =>
        routes.get('/endless', { config: { scope: 'read:clicks' } }, ({ signal }) =>
          selectRows(stores.clickhouse, ch`SELECT sum(cityHash64(number)) FROM numbers()`, {
            label: 'endless',
            signal,
            settings: { max_execution_time: 600 },
          }),
        ),
    ],
  })
  await app.listen({ port: 0 })
  const running = async () => (await runningQueries(api.stores, 'endless')).length
  const disconnect = await startRequest(app, '/endless')
  await expect.poll(running).toBe(1)
  disconnect()
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
    const disconnect = await startRequest(app, path)
    await expect.poll(() => received.size, { message: path }).toBeGreaterThan(0)
    disconnect()
    await expect.poll(() => received.size, { message: path }).toBe(0)
    tested.push(operation.path)
  }
  expect(tested).toEqual(expect.arrayContaining(['/clicks', '/conversions', '/stats/daily', '/reports']))
  await app.close()
  await clickhouse.close()
  await silent.close()
})
