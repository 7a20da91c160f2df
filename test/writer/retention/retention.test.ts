// @module-tag postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { eventAgeMaxMs } from '../../../schema/event.ts'
import type { FunnelResponse } from '../../../schema/funnel.ts'
import type { StatsDaily } from '../../../schema/stats.ts'
import {
  hasRetention,
  listRetention,
  type Retention,
  retainedBy,
  setRetention,
} from '../../../src/accounts/retention.ts'
import { removeOldMonths } from '../../../src/cli/retentionJob.ts'
import { LeaseLost } from '../../../src/stores/postgres/lease.ts'
import { completeErasures } from '../../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash, readErasureKey } from '../../../src/writer/erasure/erasures.ts'
import { Writer } from '../../../src/writer/fence/session.ts'
import { removeMonths } from '../../../src/writer/removeMonths.ts'
import { findDifferences, repairDifferences } from '../../../src/writer/repair/differences.ts'
import { completeRemoval } from '../../../src/writer/retention/completeRemoval.ts'
import { recoverAccounts } from '../../../src/writer/serverRecovery.ts'
import { accepted, send } from '../../api/events/send.ts'
import { importContent, rowsOf } from '../../import/runImport.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { changeTables, storeClicks } from '../../kit/rows.ts'
import { running, withWriter } from '../withWriter.ts'
import { contentOf, removalMs, rows, storedRowsOf, storeRetained } from './retainedAccount.ts'

const server = useTestApp()
const keys: Record<string, string> = {}
let before: Record<string, unknown>

beforeAll(async () => {
  const accounts = ['acme', 'other', 'changed', 'removing']
  for (const id of accounts) keys[id] = await server.account(id)
  await storeRetained(server.stores, ...accounts)
  before = await responses('acme', fromSums)
  await setRetention(server.stores.postgres, 'acme', { clickMonths: 2, eventMonths: 1 })
  expect(await remove('acme')).toEqual({
    removed: { clicks: 4, events: 2 },
    retained: { clicksMs: Date.UTC(2025, 1, 1), eventsMs: Date.UTC(2025, 2, 1) },
  })
  // Keys, and what their account retains, are cached for 4.5 s.
  server.setNow(testNowMs + 5_000)
})

const remove = (account: string) =>
  withWriter(server.stores, account, (writer) => removeOldMonths(writer, removalMs, 0))
const body = async (account: string, path: string) => {
  const response = await server.get(path, keys[account])
  expect([path, response.statusCode]).toEqual([path, 200])
  return response.json()
}
const responses = async (
  account: string,
  paths: readonly string[],
): Promise<Record<string, { retainedFrom: unknown }>> =>
  Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, { ...(await body(account, path)), asOf: null }])),
  )
const idsOf = async (account: string, path: string): Promise<string[]> =>
  (await body(account, path)).data.map(({ id }: { id: string }) => id).sort()
const verify = (account: string) => withWriter(server.stores, account, findDifferences)

const range = 'from=2025-01-01&to=2025-03-31'
const clicksFrom = '2025-02-01T00:00:00.000Z'
const eventsFrom = '2025-03-01T00:00:00.000Z'
const fromSums = [
  ...['campaign', 'country', 'device', 'os', 'browser', 'offer', 'landing', 'traffic_source', 'day', 'month'].map(
    (dimension) => `/reports?group_by=${dimension}&${range}`,
  ),
  `/reports?group_by=country&campaign_id=k2&${range}`,
  `/reports?group_by=country&count_at=click&${range}`,
  `/reports?group_by=campaign&from=2025-02-01&to=2025-02-28&compare=previous_period`,
  `/stats/overview?${range}`,
  `/stats/daily?${range}`,
  `/stats/daily?${range}&tz=Asia/Kathmandu`,
  `/stats/daily?${range}&interval=week&campaign_id=k1`,
]

// Rows of another account are unchanged: removal.test.ts.
describe('after months were removed', () => {
  it('everything that sums answer is unchanged, to the cent, with retainedFrom null', async () => {
    const after = await responses('acme', fromSums)
    expect(after).toEqual(before)
    expect(Object.values(after).map(({ retainedFrom }) => retainedFrom)).toEqual(fromSums.map(() => null))
  })

  it('lists have the rows that are left', async () => {
    const left = rows.clicks.map(({ id }) => id).slice(4)
    expect(await idsOf('acme', '/clicks')).toEqual(left)
    expect(await idsOf('acme', '/clicks?converted=true')).toEqual(['c4'])
    expect(await idsOf('acme', '/clicks?order=asc&to=2025-01-31')).toEqual([])
    expect(await idsOf('acme', '/events')).toEqual(['e3'])
    expect(await idsOf('acme', '/costs')).toEqual(['x3'])
    expect(await idsOf('acme', '/conversions')).toEqual(['v1', 'v2', 'v3', 'v4'])
  })

  it('a row that moves a removed cost to a later month is not stored: the sums still have the cost', async () => {
    const moved = { id: 'x1', spentAt: '2025-03-01T00:00:00Z', cost: 4 }
    const done = await importContent(server.stores, 'acme', 'costs', [moved])
    expect(done).toMatchObject({ inserted: 0, duplicates: 1, conflicting: 1 })
    expect(await idsOf('acme', '/costs')).toEqual(['x3'])
  })

  it.each([
    ['/clicks?limit=1', clicksFrom],
    ['/clicks?updated_after=2020-01-01T00:00:00Z', clicksFrom],
    ['/clicks?from=2025-01-31', clicksFrom],
    ['/clicks?from=2025-02-01', undefined],
    ['/costs?limit=1', clicksFrom],
    ['/costs?from=2025-02-01', undefined],
    ['/events', eventsFrom],
    ['/events?from=2025-03-01', undefined],
    ['/conversions', undefined],
    [`/reports?group_by=region&${range}`, clicksFrom],
    ['/reports?group_by=region&from=2025-02-01&to=2025-02-28&compare=previous_period', clicksFrom],
    ['/reports?group_by=region&from=2025-02-01&to=2025-03-31', null],
    [`/stats/overview?sub1=a&${range}`, clicksFrom],
    [`/stats/daily?sub1=a&${range}`, clicksFrom],
    [`/funnels?steps=click,signup&${range}`, eventsFrom],
    ['/funnels?steps=click,conversion&from=2025-02-01&to=2025-03-31', undefined],
    [`/checksums/clicks?${range}`, clicksFrom],
    [`/checksums/costs?${range}`, clicksFrom],
    [`/checksums/events?${range}`, eventsFrom],
    [`/checksums/conversions?${range}`, undefined],
    ['/journeys?click_id=c1', eventsFrom],
  ])('%s says from when it has rows', async (path, from) => {
    expect((await body('acme', path)).retainedFrom).toBe(from)
  })

  it('exports have the same rows, and say it in X-Retained-From', async () => {
    const header = async (path: string) => {
      const response = await server.get(path, keys.acme)
      return [response.headers['x-retained-from'], response.body.split('\n').filter(Boolean).length]
    }
    expect(await header('/clicks?format=ndjson')).toEqual([clicksFrom, 2])
    expect(await header('/clicks?format=ndjson&from=2025-02-01')).toEqual([undefined, 2])
    expect(await header('/events?format=ndjson')).toEqual([eventsFrom, 1])
    expect(await header(`/reports?group_by=region&${range}&format=csv`)).toEqual([clicksFrom, expect.any(Number)])
    expect(await header(`/reports?group_by=country&${range}&format=csv`)).toEqual([undefined, 5])
    expect(await header(`/stats/daily?from=2025-01-01T00:01:00Z&format=csv&to=2025-01-03`)).toEqual([clicksFrom, 4])
  })

  it('reports and stats of rows count clicks, conversions and costs of the same months: those with clicks', async () => {
    const march = { conversions: 1, revenue: 7 }
    const left = { clicks: 2, cost: 2.5, ...march, pendingConversions: 1, profit: 4.5 }
    expect((await body('acme', `/reports?group_by=region&${range}`)).totals).toMatchObject(left)
    expect((await body('acme', `/stats/overview?sub1=a&${range}`)).totals).toMatchObject({
      clicks: 2,
      ...march,
      cost: 0.5,
    })
    const atClick = await body('acme', `/reports?group_by=region&count_at=click&${range}`)
    expect(atClick.totals).toMatchObject({ ...left, pendingConversions: 0 })
    const compare = 'from=2025-02-01&to=2025-02-28&compare=previous_period'
    for (const path of [`/reports?group_by=region&${compare}`, `/stats/overview?sub1=a&${compare}`]) {
      const { totals, previous } = await body('acme', path)
      expect([totals.clicks, previous.totals]).toEqual([1, null])
    }
    const { data } = await body('acme', '/stats/daily?sub1=a&from=2025-01-30&to=2025-02-02')
    expect(data.map(({ complete, clicks }: StatsDaily['data'][number]) => [complete, clicks])).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
      [true, 0],
    ])
  })

  it('funnels, checksums and journeys have the rows that are left', async () => {
    const entered = async (steps: string) =>
      (await body('acme', `/funnels?by=click&steps=${steps}&${range}`)).steps.map(
        (step: FunnelResponse['steps'][number]) => step.entered,
      )
    expect(await entered('click,signup')).toEqual([1, 1])
    expect(await entered('conversion,click')).toEqual([1, 0])
    expect(await entered('conversion,conversion')).toEqual([2, 0])
    const days = async (path: string) => (await body('acme', path)).data.map(({ day }: { day: string }) => day)
    expect(await days(`/checksums/clicks?${range}`)).toEqual(['2025-02-01', '2025-03-10'])
    expect(await days(`/checksums/events?${range}`)).toHaveLength(1)
    expect(await idsOf('acme', '/journeys?click_id=c1')).toEqual(['v1'])
  })

  it('lists, journeys and funnels have the same rows while rows are being removed, which a running server completes', async () => {
    const { postgres } = server.stores
    await postgres`
      INSERT INTO retained_ranges (account_id, resource, retained_from)
      VALUES ('removing', 'clicks', ${clicksFrom.slice(0, 10)}), ('removing', 'events', ${eventsFrom.slice(0, 10)})`
    for (const path of [
      '/clicks',
      '/events',
      ...['c1', 'c3', 'c4'].flatMap((id) => [`/journeys?click_id=${id}`, `/journeys?visitor_id=visitor-${id}`]),
    ])
      expect([path, await idsOf('removing', path)]).toEqual([path, await idsOf('acme', path)])
    for (const funnel of [
      'click,signup',
      'signup,conversion&by=click',
      'click,conversion&group_by=country',
      'click,signup&campaign_id=k1&window=30d',
    ]) {
      const path = `/funnels?steps=${funnel}&${range}`
      const of = async (account: string) => ({ ...(await body(account, path)), asOf: null })
      expect([path, await of('removing')]).toEqual([path, await of('acme')])
    }
    await postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
    const lines: string[] = []
    const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
    await recoverAccounts(server.stores, log, running.signal)
    expect(lines).toEqual(['Account removing: completed an interrupted removal of months; rows removed: 6.'])
    expect(await contentOf(server.stores, 'removing')).toBe(await contentOf(server.stores, 'acme'))
  })

  it('an event of a removed click is accepted, since ids remain known', async () => {
    const event = { event_name: 'visit', click_id: 'c1', event_id: 'late' }
    expect(await send(server.app, keys.acme ?? '', event)).toEqual(accepted)
    expect(await body('acme', '/events/late')).toMatchObject({ clickId: 'c1', campaignId: 'k1' })
  })

  it('removing again finds nothing, and a longer retention brings nothing back', async () => {
    expect(await remove('acme')).toBeUndefined()
    await setRetention(server.stores.postgres, 'acme', { clickMonths: 0, eventMonths: 12 })
    expect(await remove('acme')).toBeUndefined()
  })

  it('an erasure of a visitor finds the conversions of its removed clicks, also those with a visitor of their own', async () => {
    await withWriter(server.stores, 'acme', async (writer) => {
      const key = await readErasureKey(writer)
      const hash = identifierHash(key, 'visitor', 'visitor-c2')
      await addErasures(writer, [{ kind: 'visitor', key, hash, erasedMs: Date.UTC(2026, 0, 1) }])
      expect(await completeErasures(writer, { inFlightMs: 0 })).toEqual({ clicks: 0, conversions: 1, events: 0 })
    })
    const query = `
      SELECT visitor_id, sub1, click_visitor_id, os FROM conversions FINAL WHERE account_id = 'acme' AND id = 'v2'`
    expect(await rowsOf(server.stores, query)).toEqual([{ visitor_id: '', sub1: '', click_visitor_id: '', os: 'own' }])
  })
})

it('imports after months were removed reject clicks and events of removed months, which the sums still count', async () => {
  const { stores } = server
  const again = await importContent(stores, 'acme', 'clicks', rows.clicks)
  expect(again).toMatchObject({ inserted: 0, duplicates: 2, rejected: 4 })
  expect(again.rejects[0]?.reason).toBe('clickedAt: is before 2025-02-01; the account has removed earlier rows')
  const events = await importContent(stores, 'acme', 'pixel-events', rows['pixel-events'])
  expect(events).toMatchObject({ inserted: 0, duplicates: 1, rejected: 2 })
  const moved = { ...rows.clicks[0], clickedAt: '2025-03-01T00:00:00.000Z' }
  expect(await importContent(stores, 'acme', 'clicks', [moved])).toMatchObject({ inserted: 0, duplicates: 1 })
  expect(await responses('acme', fromSums)).toEqual(before)
})

it('imports after months were removed a new conversion of a removed click has its campaign and time, and refers to it once', async () => {
  const row = { id: 'v9', convertedAt: '2025-04-02T00:00:00.000Z', status: 'approved', clickId: 'c2', revenueBase: 1 }
  await importContent(server.stores, 'acme', 'conversions', [row])
  const { data } = await body('acme', '/conversions?from=2025-04-02&to=2025-04-02')
  expect(data).toMatchObject([{ id: 'v9', campaignId: 'k2', clickedAt: '2025-01-10T10:20:00.000Z', country: null }])
  await importContent(server.stores, 'acme', 'clicks', [])
  // After all that the tests above stored.
  expect(await verify('acme')).toEqual([])
})

it('verify after months were removed repairs the sums of conversions of a removed month, and reports changed sums of clicks and a changed index', {
  tags: 'long',
}, async () => {
  const { stores } = server
  const insert = (columns: string, values: string) =>
    stores.clickhouse.client.command({ query: `INSERT INTO sums_by_quarter_hour (${columns}) VALUES (${values})` })
  const key = `'acme', '2025-01-10 10:15:00', 'k1'`
  await insert('account_id, bucket, campaign_id, conversions', `${key}, 1`)
  const found = await verify('acme')
  expect(found).toMatchObject([{ kind: 'derived', table: 'sums_by_quarter_hour', day: '2025-01-10' }])
  expect(await withWriter(stores, 'acme', (writer) => repairDifferences(writer, found))).toEqual([])
  await insert('account_id, bucket, campaign_id, clicks', `${key}, 1`)
  await changeTables(stores, `ALTER TABLE click_index DELETE WHERE account_id = 'acme' AND id = 'bot'`)
  const changed = { kind: 'removed_month', accountId: 'acme', month: '2025-01-01' }
  const expected = ['click_index', 'sums_by_quarter_hour'].map((table) => ({ ...changed, table }))
  expect(await verify('acme')).toEqual(expected)
  expect(await withWriter(stores, 'acme', (writer) => repairDifferences(writer, expected as never))).toEqual(expected)
})

it('nothing is removed while sums do not agree with the rows', async () => {
  const { stores } = server
  await setRetention(stores.postgres, 'changed', { clickMonths: 2, eventMonths: 2 })
  await stores.clickhouse.client.command({
    query: `INSERT INTO sums_by_day (account_id, dimension, day, value, clicks)
        VALUES ('changed', 'device', '2025-01-10', 'mobile', 1)`,
  })
  const stored = await storedRowsOf(stores, 'changed')
  await expect(remove('changed')).rejects.toThrow('and nothing was removed; run verify --account changed --repair')
  expect(await storedRowsOf(stores, 'changed')).toBe(stored)
  expect(await stores.postgres`SELECT 1 FROM retained_ranges WHERE account_id = 'changed'`).toEqual([])
  await withWriter(stores, 'changed', async (writer) => repairDifferences(writer, await findDifferences(writer)))
  expect(await remove('changed')).toMatchObject({ removed: { clicks: 4, events: 1 } })
  const counts = await rowsOf(stores, `SELECT count() AS rows FROM clicks WHERE account_id = 'changed'`)
  expect(counts).toEqual([{ rows: 2 }])
})

// While confirmed clicks are missing: removal.test.ts.
describe('nothing is removed', () => {
  const repair = (account: string) =>
    withWriter(server.stores, account, async (writer) => repairDifferences(writer, await findDifferences(writer)))
  const aged = (account: string) => setRetention(server.stores.postgres, account, { clickMonths: 2, eventMonths: 0 })

  it('while a click is stored twice, also in a later month', { tags: 'long' }, async () => {
    await server.account('twice')
    await storeRetained(server.stores, 'twice')
    await aged('twice')
    const copy = { id: 'c1', clicked_at: '2025-03-10 10:20:00.000', campaign_id: 'k1', country: 'FR' }
    await storeClicks(server.stores, 'twice', [copy])
    await expect(remove('twice')).rejects.toThrow('clicks are stored more than once, and nothing was removed')
    expect(await repair('twice')).toEqual([])
    expect(await remove('twice')).toMatchObject({ removed: { clicks: 4 } })
  })

  it('while a cost is stored twice, also in a later month', async () => {
    const { stores } = server
    await server.account('spent')
    const cost = { id: 'x', spentAt: '2025-01-10T00:00:00Z', cost: 1 }
    await importContent(stores, 'spent', 'costs', [cost])
    await aged('spent')
    await stores.clickhouse.client.command({
      query: `INSERT INTO costs SELECT * REPLACE (version + 1 AS version, toDateTime64('2025-03-10', 3, 'UTC') AS spent_at)
        FROM costs FINAL WHERE account_id = 'spent'`,
    })
    await expect(remove('spent')).rejects.toThrow('costs are stored more than once, and nothing was removed')
  })

  it('if the setting changes before the removal is recorded', async () => {
    const { postgres } = server.stores
    const account = 'other'
    await aged(account)
    const [setting] = await listRetention(postgres, account)
    if (!setting) throw new Error('no setting')
    await setRetention(postgres, account, { clickMonths: 0 })
    const until = retainedBy(setting, removalMs)
    const removal = {
      audit: (sql: typeof postgres) => sql`unused AS (SELECT 1)`,
      isDue: (sql: typeof postgres) => hasRetention(sql, setting),
      announceMs: 0,
    }
    const removed = await withWriter(server.stores, account, (writer) => removeMonths(writer, until, removal))
    expect(removed).toBeUndefined()
    expect(await postgres`SELECT 1 FROM retained_ranges WHERE account_id = ${account}`).toEqual([])
  })

  it('and no removal is completed by a writer that has lost its lease', async () => {
    const { postgres } = server.stores
    await withWriter(server.stores, 'other', async (writer) => {
      await postgres`
        INSERT INTO retained_ranges (account_id, resource, retained_from) VALUES ('other', 'events', '2020-01-01')`
      const { name, lost } = writer.lease
      const earlier = { name, lost, fencingToken: 0n, assertHeld: async () => {} } as typeof writer.lease
      await expect(completeRemoval(new Writer({ ...writer, lease: earlier }), 0)).rejects.toThrow(LeaseLost)
      const isComplete = () => postgres`SELECT is_complete FROM retained_ranges WHERE account_id = 'other'`
      expect(await isComplete()).toEqual([{ is_complete: false }])
      await completeRemoval(writer, 0)
      expect(await isComplete()).toEqual([{ is_complete: true }])
    })
  })
})

describe('the months that are retained', () => {
  const setting = (more: Partial<Retention>): Retention => ({
    accountId: 'a',
    clickMonths: 13,
    eventMonths: 0,
    isImporting: false,
    retained: { clicksMs: 0, eventsMs: 0 },
    nowMs: Date.UTC(2025, 3, 15),
    ...more,
  })

  it('are whole UTC months before the present one, across years; 0 retains all', () => {
    expect(retainedBy(setting({}), Date.UTC(2026, 0, 1))).toEqual({ clicksMs: Date.UTC(2024, 2, 1), eventsMs: 0 })
    const last = setting({ clickMonths: 1, nowMs: Date.UTC(2025, 2, 31, 23, 59, 59, 999) })
    expect(retainedBy(last, Date.UTC(2026, 0, 1)).clicksMs).toBe(Date.UTC(2025, 1, 1))
  })

  it('include every time that an event may have when it arrives, also on the days after a short month', () => {
    const retention = { clickMonths: 1, eventMonths: 1 }
    for (let nowMs = Date.UTC(2023, 11, 1); nowMs < Date.UTC(2025, 3, 1); nowMs += 21_600_000) {
      const { clicksMs, eventsMs } = retainedBy(setting({ ...retention, nowMs }), nowMs)
      expect(eventsMs).toBeLessThan(nowMs - eventAgeMaxMs)
      expect(clicksMs).toBe(eventsMs)
    }
    const onMarch = (day: number) => retainedBy(setting({ ...retention, nowMs: Date.UTC(2025, 2, day) }), Infinity)
    expect([1, 3, 4].map((day) => onMarch(day).eventsMs)).toEqual([0, 0, 1].map((month) => Date.UTC(2025, month, 1)))
  })

  it('are all until the import of the account has ended', () => {
    const retained = { clicksMs: Date.UTC(2024, 0, 1), eventsMs: 0 }
    expect(retainedBy(setting({ isImporting: true, retained }), Date.UTC(2026, 0, 1))).toEqual(retained)
  })

  it('are computed with the clock that is behind, and never move back', () => {
    expect(retainedBy(setting({ nowMs: Date.UTC(2090, 0, 1) }), Date.UTC(2025, 3, 15)).clicksMs).toBe(
      Date.UTC(2024, 2, 1),
    )
    const retained = { clicksMs: Date.UTC(2025, 0, 1), eventsMs: Date.UTC(2025, 1, 1) }
    expect(retainedBy(setting({ retained }), Date.UTC(2026, 0, 1))).toEqual(retained)
  })
})
