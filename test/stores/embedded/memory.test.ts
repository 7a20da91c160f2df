// @module-tag long

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scopes } from '../../../schema/scopes.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { buildApp } from '../../../src/app.ts'
import type { App } from '../../../src/http/context.ts'
import { readSettings } from '../../../src/settings.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../../src/stores/open.ts'
import { testNowMs } from '../../kit/app.ts'
import { type Folder, makeFolder } from './folder.ts'

const memoryMb = 1_000

let folder: Folder
let stores: Stores
let app: App
let keys: Record<string, string>

beforeAll(async () => {
  folder = makeFolder()
  const settings = readSettings({ DATA_DIR: folder.path, CLICKHOUSE_MEMORY_MB: `${memoryMb}` })
  stores = await openStores(settings, () => {})
  await migrate(stores)
  app = await buildApp({ settings, stores, now: () => testNowMs })
  keys = Object.fromEntries(await Promise.all(['heavy', 'light'].map(async (id) => [id, await keyOf(id)])))
  // A report by this value groups 120 MB; a query may use 300, all reads 600.
  for (let from = 0; from < 40_000; from += 10_000) {
    await stores.clickhouse.client.command({
      query: `INSERT INTO clicks (account_id, id, clicked_at, sub1)
        SELECT 'heavy', toString(n), toDateTime64('2026-11-20 10:00:00', 3, 'UTC'), repeat(toString(cityHash64(n)), 150)
        FROM (SELECT arrayJoin(range(${from}, ${from + 10_000})) AS n)`,
    })
  }
  await stores.clickhouse.client.command({
    query: `INSERT INTO clicks (account_id, id, clicked_at, sub1) SELECT 'light', 'c', toDateTime64('2026-11-20 10:00:00', 3, 'UTC'), 'x'`,
  })
})
afterAll(async () => {
  await app?.close()
  await stores?.close()
  await folder?.leave()
})

async function keyOf(id: string): Promise<string> {
  await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'USD' })
  return (await createKey(stores.postgres, { accountId: id, name: 'x', scopes, expiresAt: null }))?.key ?? ''
}

const report = (account: string, query: string) =>
  app.inject({ url: `/api/v1/reports?${query}`, headers: { authorization: `ApiKey ${keys[account]}` } })

/** The most memory that the engine has used, in MB. */
const peakMb = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${folder.process('clickhouse/engine')}/status`, 'utf8'))?.[1]) /
  1000

it('bounds the memory of eight heavy reports, while another account gets its own', async () => {
  const heavy = Array.from({ length: 8 }, (_, n) => report('heavy', `group_by=sub1&days=${20 + n}`))
  for (const days of [20, 21, 22]) expect((await report('light', `group_by=sub1&days=${days}`)).statusCode).toBe(200)
  for (const { statusCode, headers } of await Promise.all(heavy)) {
    expect([200, 503]).toContain(statusCode)
    expect(headers['retry-after'] !== undefined).toBe(statusCode === 503)
  }
  // ClickHouse measures the process, including Node, twice a second.
  expect(peakMb()).toBeLessThan(memoryMb * 1.1)
})
