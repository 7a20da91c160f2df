// @module-tag long

import { chmod } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { ClickPage } from '../../schema/click.ts'
import { ConversionPage } from '../../schema/conversion.ts'
import { EventPage } from '../../schema/eventList.ts'
import { buildApp } from '../../src/app.ts'
import { openResponseCache } from '../../src/http/responseCache.ts'
import { importContent } from '../import/runImport.ts'
import { getFrom, openTestApp, type TestApp, testNowMs, useTestApp } from '../kit/app.ts'
import { canFakeClocks, createFakeClock, type FakeClock } from '../kit/fakeClock.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { storeEvents } from '../kit/rows.ts'

const clicks = (...ids: string[]) => ids.map((id) => ({ id, clickedAt: '2026-03-01T10:00:00Z' }))
const conversions = (...ids: string[]) =>
  ids.map((id) => ({ id, convertedAt: '2026-03-01T10:00:00Z', status: 'approved' }))

/** Reads the rows stored since the last call, as a client that synchronizes a copy. */
function incrementalReader(api: TestApp, key: string) {
  const since = { clicks: '2026-01-01', conversions: '2026-01-01' }
  return async () => {
    const clickPage = await api.read(`/clicks?updated_since=${since.clicks}`, key, ClickPage)
    const conversionPage = await api.read(`/conversions?updated_since=${since.conversions}`, key, ConversionPage)
    since.clicks = clickPage.asOf ?? ''
    since.conversions = conversionPage.asOf ?? ''
    return [...clickPage.data, ...conversionPage.data].map(({ id }) => id)
  }
}

describe('updated_since after the clock of ClickHouse stepped back', () => {
  const api = useTestApp()

  // libfaketime does not affect ClickHouse, which reads the time from the vDSO. So the queries of one instance are rewritten
  // to a clock that is some hours ahead, before the clock steps back to the true time.
  const openAhead = (hours: number) =>
    buildApp({
      settings: api.stores.settings,
      stores: interceptClickHouse(api.stores, ({ method, text }) =>
        method === 'read' ? text.replace('now64(3)', `(now64(3) + INTERVAL ${hours} HOUR)`) : undefined,
      ),
      responseCache: openResponseCache({ ttlMs: 0 }),
      now: () => testNowMs,
    })

  it('returns every click and conversion that is stored later, and none twice', async () => {
    const key = await api.account('acme')
    const app = await openAhead(1)
    await importContent(api.stores, 'acme', 'clicks', clicks('c1'))
    await importContent(api.stores, 'acme', 'conversions', conversions('v1'))
    const asOf: Record<string, string> = {}
    for (const list of ['clicks', 'conversions']) {
      asOf[list] = (await getFrom(app, `/${list}?updated_since=2026-01-01`, key)).json().asOf
    }
    await app.close()
    await importContent(api.stores, 'acme', 'clicks', clicks('c2'))
    await importContent(api.stores, 'acme', 'conversions', conversions('v2'))
    const laterClicks = await api.read(`/clicks?updated_since=${asOf.clicks}`, key, ClickPage)
    const laterConversions = await api.read(`/conversions?updated_since=${asOf.conversions}`, key, ConversionPage)
    expect([...laterClicks.data, ...laterConversions.data].map(({ id }) => id)).toEqual(['c2', 'v2'])
  })

  it('returns events that are stored before the clock has caught up only with an overlap as long as the step', async () => {
    const key = await api.account('events')
    const readAhead = async (hours: number, since: string): Promise<typeof EventPage.static> => {
      const app = await openAhead(hours)
      const page = await getFrom(app, `/events?updated_since=${since}`, key)
      await app.close()
      return page.json()
    }
    const readIds = async (since: string) => {
      const { data } = await api.read(`/events?updated_since=${since}`, key, EventPage)
      return data.map(({ id }) => id)
    }
    const asOf = (await readAhead(1, '2026-01-01')).asOf ?? ''
    const anHourBefore = new Date(Date.parse(asOf) - 3_600_000).toISOString()
    await storeEvents(api.stores, 'events', [{ id: 'during', occurred_at: '2026-03-01 10:00:00.000' }])
    await expect.poll(() => readIds(anHourBefore), { timeout: 10_000 }).toEqual(['during'])
    expect(await readIds(asOf)).toEqual([])
    await storeEvents(api.stores, 'events', [
      { id: 'after', occurred_at: '2026-03-01 10:00:00.000', stored_at: asOf.replace('T', ' ').replace('Z', '') },
    ])
    expect((await readAhead(2, asOf)).data.map(({ id }) => id)).toEqual(['after'])
  })
})

const canRun = canFakeClocks() && hasPostgres() && !process.env.TRIBUTARY_TEST_CLUSTER

describe.skipIf(!canRun)('updated_since while the clock of Postgres steps back and forth', () => {
  const folder = useFolder()
  let clock: FakeClock
  const server = useOpened(async () => {
    // The Postgres server runs as another user.
    await chmod(folder(), 0o755)
    clock = await createFakeClock(folder('clock'))
    return await startPostgres(clock.environment)
  })
  const api = useOpened(() => openTestApp({}, { DATABASE_URL: server.url('tributary') }))

  const serverMs = async () => {
    const [row] = await api.stores.postgres<{ ms: number }[]>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`
    return row?.ms ?? 0
  }

  it('returns every row once, in the order in which rows were stored', async () => {
    const key = await api.account('acme')
    const read = incrementalReader(api, key)
    await importContent(api.stores, 'acme', 'clicks', clicks('c1', 'c2'))
    await importContent(api.stores, 'acme', 'conversions', conversions('v1', 'v2'))
    expect(await read()).toEqual(['c1', 'c2', 'v1', 'v2'])
    expect(await read()).toEqual([])

    const trueMs = await serverMs()
    await clock.set('-1h')
    expect(trueMs - (await serverMs())).toBeGreaterThan(3_000_000)
    await importContent(api.stores, 'acme', 'clicks', clicks('c2', 'c3'))
    await importContent(api.stores, 'acme', 'conversions', conversions('v3'))
    expect(await read()).toEqual(['c3', 'v3'])
    expect(await read()).toEqual([])

    await clock.set('+1h')
    await importContent(api.stores, 'acme', 'clicks', clicks('c4'))
    await clock.set('+0')
    await importContent(api.stores, 'acme', 'clicks', clicks('c5'))
    expect(await read()).toEqual(['c4', 'c5'])
    expect(await read()).toEqual([])
    const { data } = await api.read('/clicks?updated_since=2026-01-01', key, ClickPage)
    expect(data.map(({ id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  })
})
