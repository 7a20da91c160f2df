import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { App, RouteContext } from '../../src/http/context.ts'
import { testNowMs } from '../kit/app.ts'
import { openRaw, type RawConnection, rawGet } from '../kit/rawConnection.ts'
import { runningQueries } from '../kit/rows.ts'
import { openProbe, type Probe } from './probe.ts'

let probe: Probe
const keys: string[] = []
const connections: RawConnection[] = []

/** An endless export without queries. */
function endlessExport(app: App, { streaming }: RouteContext): void {
  const chunk = Buffer.alloc(65_536, 'x')
  app.get('/endless', { config: { scope: 'read:clicks' } }, (request, reply) =>
    streaming.send(request, reply, 'ndjson', async function* (signal) {
      while (!signal.aborted) yield chunk
    }),
  )
}

beforeAll(async () => {
  probe = await openProbe({ routes: [endlessExport] })
  for (let n = 0; n < 14; n++) keys.push(await probe.key(`account-${n}`))
  await probe.app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => {
  for (const { socket } of connections.splice(0)) socket.destroy()
})
afterAll(() => probe.close())

/** Starts an export and reads only its status. @returns the status */
async function startExport(account: number, app = probe.app, path = '/endless'): Promise<number> {
  const connection = await openRaw(app, rawGet(`/api/v1${path}`, keys[account]))
  connections.push(connection)
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 \d+ /)
  connection.socket.pause()
  return Number(connection.received().slice(9, 12))
}

describe('export slots', () => {
  it('allows two exports per account until half of the slots are taken, then one, so that twelve accounts can export', async () => {
    const statuses: number[] = []
    for (const account of [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]) statuses.push(await startExport(account))
    const [ok, overLimit, full] = [200, 429, 503]
    expect(statuses).toEqual([ok, ok, overLimit, ok, ok, ok, ok, ok, overLimit, ok, ok, ok, ok, ok, full])
  })

  it('releases export slots when clients disconnect', async () => {
    for (const account of [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8]) await expect.poll(() => startExport(account)).toBe(200)
    for (const { socket } of connections.splice(0)) socket.destroy()
    await expect.poll(() => startExport(9)).toBe(200)
    await expect.poll(() => startExport(9)).toBe(200)
  })
})

it('a client that stops reading an export loses its slot, and its query ends', async () => {
  const { stores } = probe
  // More bytes than the buffers between the store and a stalled reader hold.
  await stores.clickhouse.client.command({
    query: `INSERT INTO clicks (account_id, clicked_at, id, referrer)
      SELECT 'account-0', toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number, toString(number), repeat('x', 4000)
      FROM numbers(10000)`,
  })
  const running = () => runningQueries(stores, 'clicks.export')
  let elapsedMs = 0
  const pace = { stallMs: 60_000, spanMs: 600_000, spanBytesMin: 1, checkMs: 20, monotonicMs: () => elapsedMs }
  const app = await buildApp({ settings: stores.settings, stores, now: () => testNowMs, pace })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const path = '/clicks?format=ndjson'
  expect([await startExport(0, app, path), await startExport(0, app, path)]).toEqual([200, 200])
  await expect.poll(running).toHaveLength(2)
  const runningLater = () => {
    elapsedMs += 30_000
    return running()
  }
  await expect.poll(runningLater).toEqual([])
  await expect.poll(() => startExport(0, app, path)).toBe(200)
  await app.close()
})
