// @module-tag long

import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { setPlanLimits } from '../../../src/accounts/plans.ts'
import { buildApp } from '../../../src/app.ts'
import type { App } from '../../../src/http/context.ts'
import { openLog } from '../../../src/http/logging.ts'
import { openTestApp, type TestApp, testNowMs } from '../../kit/app.ts'
import { haltProcess, processesOf } from '../../kit/processes.ts'
import { changeTables, storeClicks, storeMetadata } from '../../kit/rows.ts'
import { accepted, deduplicated, overCeiling, refused, send, storedEvents } from './send.ts'

let api: TestApp
let app: App
let key: string
let lines: string[] = []

beforeAll(async () => {
  api = await openTestApp()
  api.stores.markDirty()
  // The ceiling is twenty events.
  await setPlanLimits(api.stores.postgres, 'pro', { clickAllowance: 1 })
  key = await api.account('acme', { plan: 'pro' })
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'camp' }])
  await storeClicks(api.stores, 'acme', [{ id: 'click', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'camp' }])
  const log = openLog('warn', { write: (line: string) => void lines.push(line) })
  app = await buildApp({ settings: api.stores.settings, stores: api.stores, now: () => testNowMs, log })
})
afterAll(async () => {
  await app?.close()
  await api?.close()
})
afterEach(() => {
  lines = []
})

const event = (event_id: string, click_id = 'click') => ({ click_id, event_name: 'paid', event_id })
const warnings = () => lines.filter((line) => line.includes('ClickHouse was restarted or restored'))

async function uptimeS(): Promise<number> {
  const response = await api.stores.clickhouse.client.query({ query: 'SELECT uptime()', format: 'TabSeparated' })
  return Number(await response.text())
}

describe('a server after a restore of ClickHouse from a backup', () => {
  // It copies the files of the embedded engine and ends its process.
  it.skipIf(inject('engines').clickhouseUrl)(
    'stores again what the restored files lack, and counts what they hold',
    { timeout: 120_000 },
    async () => {
      const data = String(api.stores.environment.DATA_DIR)
      const [folder, backup] = [join(data, 'clickhouse'), join(data, 'backup')]
      const engine = (name: string) => processesOf(data).find(({ program }) => program === name)?.id ?? 0
      for (let n = 0; n < 5; n++) expect(await send(app, key, event(`kept-${n}`))).toEqual(accepted)
      // The files of an engine that stands still are what a power cut would leave.
      await haltProcess(engine('clickhouse/engine'), 'SIGSTOP')
      cpSync(folder, backup, { recursive: true })
      process.kill(engine('clickhouse/engine'), 'SIGCONT')

      await storeClicks(api.stores, 'acme', [
        { id: 'late', clicked_at: '2026-11-20 11:00:00.000', campaign_id: 'camp' },
      ])
      for (let n = 0; n < 14; n++) expect(await send(app, key, event(`lost-${n}`))).toEqual(accepted)
      expect(await send(app, key, event('lost-late', 'late'))).toEqual(accepted)
      expect(await send(app, key, event('beyond'))).toEqual(overCeiling)
      // A restart is detected by a start that is 2.5 s later; on a busy machine responses come seconds late.
      await expect.poll(uptimeS, { timeout: 30_000 }).toBeGreaterThan(6)
      expect(await send(app, key, event('lost-0'))).toEqual(deduplicated)
      expect(warnings()).toEqual([])

      await haltProcess(engine('supervisor'), 'SIGSTOP')
      const before = engine('clickhouse/engine')
      await haltProcess(before, 'SIGKILL')
      renameSync(folder, `${folder}-lost`)
      renameSync(backup, folder)
      process.kill(engine('supervisor'), 'SIGCONT')
      await expect.poll(() => uptimeS().catch(() => undefined), { timeout: 60_000, interval: 50 }).toBeDefined()
      expect(engine('clickhouse/engine')).not.toBe(before)
      rmSync(`${folder}-lost`, { recursive: true })

      // Within a second of the restart.
      await expect.poll(() => send(app, key, event('lost-0')), { timeout: 30_000, interval: 50 }).toEqual(accepted)
      for (let n = 1; n < 14; n++) expect(await send(app, key, event(`lost-${n}`))).toEqual(accepted)
      for (let n = 0; n < 5; n++) expect(await send(app, key, event(`kept-${n}`))).toEqual(deduplicated)
      expect(await send(app, key, event('lost-late', 'late'))).toEqual(refused(404, 'click_not_found'))
      expect(await send(app, key, event('last'))).toEqual(accepted)
      expect(await send(app, key, event('beyond'))).toEqual(overCeiling)
      expect(await storedEvents(api.stores, 'acme')).toHaveLength(20)
      expect(warnings()).toHaveLength(1)
    },
  )

  it('detects tables that were replaced while the server was running', async () => {
    const id = 'remade'
    const otherKey = await api.account(id, { plan: 'scale' })
    await storeMetadata(api.stores, 'campaigns', id, [{ id: 'camp' }])
    await storeClicks(api.stores, id, [{ id: 'click', clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'camp' }])
    expect(await send(app, otherKey, event('e1'))).toEqual(accepted)
    expect(await send(app, otherKey, event('e1'))).toEqual(deduplicated)
    await changeTables(api.stores, 'CREATE TABLE restored AS pixel_events')
    await changeTables(api.stores, 'EXCHANGE TABLES restored AND pixel_events')
    await changeTables(api.stores, 'DROP TABLE restored SYNC')
    await expect.poll(() => send(app, otherKey, event('e1')), { timeout: 30_000, interval: 50 }).toEqual(accepted)
    expect(await storedEvents(api.stores, id)).toHaveLength(1)
    expect(warnings()).toHaveLength(1)
  })
})
