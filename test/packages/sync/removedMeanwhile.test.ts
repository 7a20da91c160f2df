import { execFile } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { removeMonths } from '../../../src/writer/removeMonths.ts'
import { importContent } from '../../import/runImport.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'
import { type CopyTarget, openCopyTarget } from '../../kit/copyTarget.ts'
import { withWriter } from '../../writer/retention/retainedAccount.ts'

let api: TestApp
let target: CopyTarget
let folder: string
let sync: (place: string, ...more: string[]) => Promise<{ verified?: object; written?: object }>
let proxy: ReturnType<typeof createServer>
/** Called before an export of one day of clicks is forwarded. */
let onExport = async () => {}

beforeAll(async () => {
  api = await openTestApp()
  const key = await api.account('acme')
  const days = ['2026-11-18', '2026-11-19', '2026-11-19']
  const clicks = days.map((day, n) => ({ id: `c${n}`, clickedAt: `${day}T10:00:00.000Z` }))
  await importContent(api.stores, 'acme', 'clicks', clicks)
  target = await openCopyTarget(api.stores)
  folder = await mkdtemp(join(tmpdir(), 'tributary-sync-'))
  const baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  proxy = createServer(async ({ url = '', headers }, outgoing) => {
    if (/^\/api\/v1\/clicks\?from=2026-11-\d\d&to=.*&format=/.test(url)) await onExport()
    request(`${baseUrl}${url}`, { headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers)
      response.pipe(outgoing)
    }).end()
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const program = join(packageRoot, 'src/packages/sync/dist/main.js')
  const environment = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: key, ...target.environment }
  sync = async (place, ...more) => {
    const words = [program, place, '--url', url, '--json', '--resources', 'clicks', ...more]
    return JSON.parse((await promisify(execFile)(process.execPath, words, { env: environment })).stdout)
  }
})
afterAll(async () => {
  proxy?.closeAllConnections()
  proxy?.close()
  await target?.close()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

it('a day that the source removes by age between its checksum and its export stays in the copy', async () => {
  await sync(target.url)
  await sync(folder)
  // Both copies read a day again that differs.
  await target.sql`DELETE FROM tributary.clicks WHERE id = 'c1'`
  const state = join(folder, 'clicks/.tributary-sync.json')
  await writeFile(state, (await readFile(state, 'utf8')).replaceAll(/"hash":"\w+"/g, `"hash":"${'0'.repeat(15)}"`))
  const file = join(folder, 'clicks/day=2026-11-19/part.parquet')
  const before = await readFile(file)

  const signals = new EventEmitter()
  let exports = 0
  onExport = async () => {
    exports += 1
    if (exports === 1) await once(signals, 'removed')
    if (exports !== 2) return
    await removeAll()
    signals.emit('removed')
  }
  const [verified, written] = await Promise.all([sync(target.url, '--verify'), sync(folder)])
  expect(exports).toBe(3)
  expect(verified.verified).toMatchObject({ clicks: { repaired: [] } })
  expect(written.written).toEqual({ clicks: [] })
  expect((await target.sql`SELECT id FROM tributary.clicks ORDER BY id`).map(({ id }) => id)).toEqual(['c0', 'c2'])
  expect(await readFile(file)).toEqual(before)
})

async function removeAll(): Promise<void> {
  await withWriter(api.stores, 'acme', (writer) => {
    const until = { clicksMs: Date.UTC(2026, 11, 1), eventsMs: Date.UTC(2026, 11, 1) }
    return removeMonths(writer, until, { audit: (sql) => sql`audited AS (SELECT FROM recorded)`, announceMs: 0 })
  })
  // Keys, and what their account retains, are cached for 4.5 s.
  api.setNow(testNowMs + 600_000)
}
