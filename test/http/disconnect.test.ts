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
          }),
        ),
    ],
  })
  key = await probe.key('acme')
})
afterAll(() => probe.close())

/** Asks over a connection of its own. @returns what hangs up */
async function ask(app: App, path: string): Promise<() => void> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\n\r\n`)
  return () => socket.destroy()
}

it('a query ends in ClickHouse when its caller hangs up', async () => {
  await probe.app.listen({ port: 0 })
  const running = async () => {
    const answer = await probe.stores.clickhouse.client.query({
      query: `SELECT query_id FROM system.processes WHERE Settings['log_comment'] = 'endless'`,
      format: 'JSONEachRow',
    })
    return (await answer.json()).length
  }
  const hangUp = await ask(probe.app, '/endless')
  await expect.poll(running, { timeout: 10_000 }).toBe(1)
  hangUp()
  // Far below the time limit of queries, which is what would end it otherwise.
  await expect.poll(running, { timeout: 10_000 }).toBe(0)
})

it('every read that asks ClickHouse stops asking when its caller hangs up', async () => {
  // It takes questions and never answers.
  const asked = new Set<object>()
  const silent = createServer((request) => {
    asked.add(request)
    request.socket.once('close', () => asked.delete(request))
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const clickhouse = openClickHouse({ url: `http://127.0.0.1:${port}`, username: 'x', password: 'x', database: 'x' })
  const { stores } = probe
  const app = await buildApp({ settings: stores.settings, stores: { ...stores, clickhouse }, now: () => testNowMs })
  await app.listen({ port: 0 })
  const { paths } = (await app.inject('/api/v1/docs/json')).json() as { paths: Record<string, { get?: Described }> }
  const reads = Object.entries(paths).flatMap(([path, { get }]) => (get ? [path + required(get)] : []))
  expect(reads.length).toBeGreaterThanOrEqual(12)
  const asking: string[] = []
  for (const path of reads) {
    const answered = app.inject({ url: `/api/v1${path}`, headers: { authorization: `ApiKey ${key}` } })
    const outcome = await Promise.race([
      answered.then(() => 'answered'),
      expect.poll(() => asked.size).toBeGreaterThan(0),
    ])
    if (outcome === 'answered') continue
    for (const request of [...asked]) (request as { socket: { destroy(): void } }).socket.destroy()
    await answered
    await expect.poll(() => asked.size).toBe(0)
    const hangUp = await ask(app, path)
    await expect.poll(() => asked.size, { message: path }).toBeGreaterThan(0)
    hangUp()
    await expect.poll(() => asked.size, { message: path, timeout: 5_000 }).toBe(0)
    asking.push(path)
  }
  expect(asking).toEqual(
    expect.arrayContaining(['/clicks', '/conversions', '/stats/daily', '/reports?group_by=campaign']),
  )
  await app.close()
  await clickhouse.close()
  silent.closeAllConnections()
  silent.close()
})

interface Described {
  parameters?: {
    name: string
    in: string
    required?: boolean
    schema: { enum?: string[]; anyOf?: { const?: string }[] }
  }[]
}

/** The parameters that a call can't do without, with values that it takes. */
function required({ parameters = [] }: Described): string {
  const wanted = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const words = wanted.map(({ name, schema }) => `${name}=${schema.enum?.[0] ?? schema.anyOf?.[0]?.const ?? 'abc'}`)
  return words.length === 0 ? '' : `?${words.join('&')}`
}
