import { afterEach, beforeAll, expect, it } from 'vitest'
import type { App, RouteContext } from '../../src/http/context.ts'
import { useTestApp } from '../kit/app.ts'
import { openRaw, type RawConnection, rawGet } from '../kit/rawConnection.ts'

const api = useTestApp({ routes: [endlessExport] })
const keys: string[] = []
const connections: RawConnection[] = []

function endlessExport(app: App, { streaming }: RouteContext): void {
  const chunk = Buffer.alloc(65_536, 'x')
  app.get('/endless', { config: { scope: 'read:clicks' } }, (request, reply) =>
    streaming.send(request, reply, 'ndjson', async function* (signal) {
      while (!signal.aborted) yield chunk
    }),
  )
}

beforeAll(async () => {
  for (let n = 0; n < 14; n++) keys.push(await api.account(`account-${n}`))
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => {
  for (const { socket } of connections.splice(0)) socket.destroy()
})

async function startExport(account: number): Promise<number> {
  const connection = await openRaw(api.app, rawGet('/api/v1/endless', keys[account]))
  connections.push(connection)
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 \d+ /)
  connection.socket.pause()
  return Number(connection.received().slice(9, 12))
}

it('a server allows two exports per account until half of the slots are taken, then one, so that twelve accounts can export', async () => {
  const statuses: number[] = []
  for (const account of [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]) statuses.push(await startExport(account))
  const [ok, overLimit, full] = [200, 429, 503]
  expect(statuses).toEqual([ok, ok, overLimit, ok, ok, ok, ok, ok, overLimit, ok, ok, ok, ok, ok, full])
})
