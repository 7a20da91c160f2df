// @module-tag long

import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openInFlightLimit } from '../../src/api/events/accept.ts'
import { findAcceptances, generationAfter } from '../../src/events/duplicates.ts'
import { openIntake } from '../../src/events/intake.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import {
  addErasures,
  hasIncompleteErasures,
  identifierHash,
  readErasureKey,
} from '../../src/writer/erasure/erasures.ts'
import { openWriteSession } from '../../src/writer/openWriter.ts'
import { recoverAccounts } from '../../src/writer/serverRecovery.ts'
import { storedPixelEvents } from '../../src/writer/store/pixelEvents.ts'
import { ExistingKeys } from '../../src/writer/storedKeys/existingKeys.ts'
import { acceptAll } from '../api/events/send.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent, rowsOf } from '../import/runImport.ts'
import { openTestApp, testNowMs } from '../kit/app.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { contentOfNode } from '../kit/clickhouseCluster.ts'
import { useOpened } from '../kit/fixtures.ts'
import { expireProcessOf } from '../kit/leases.ts'
import { startReplicas } from '../kit/replicas.ts'
import { storeMetadata } from '../kit/rows.ts'
import { openTestStores } from '../kit/stores.ts'
import { shortWindow } from '../writer/killedImport.ts'
import { running, withWriter } from '../writer/withWriter.ts'

const hourMs = 3_600_000

describe.runIf(canReplicate()).each([1, 2])('on %d shards of two replicas', (shards) => {
  const replicas = useOpened(() => startReplicas({ shards }))
  // The users of docs/clickhouse-users-cluster.sql, each with what it needs and no more.
  const api = useOpened(async () => {
    const { environment, nodes } = replicas
    const owner = await openTestStores({ ...environment, CLICKHOUSE_URL: nodes[0].url('tributary_owner') })
    await owner.close()
    return await openTestApp({}, { ...environment, CLICKHOUSE_URL: nodes[0].url('tributary_writer') })
  })
  const there = useOpened(() =>
    openStores(
      readSettings({ ...api.stores.environment, CLICKHOUSE_URL: replicas.nodes[1]?.url('tributary_writer') }),
      () => {},
    ),
  )

  const clicks = Array.from({ length: 100 }, (_, n) => ({
    id: `c${n}`,
    clickedAt: `2026-11-0${1 + (n % 7)}T0${n % 10}:00:00.000Z`,
    campaignId: `k${n % 2}`,
    country: 'DE',
    visitorId: `v${n % 10}`,
    city: 'Ulm',
  }))
  const conversions = Array.from({ length: 20 }, (_, n) => ({
    id: `v${n}`,
    clickId: `c${n}`,
    convertedAt: '2026-11-08T00:00:00.000Z',
    status: 'approved',
    revenue: 2,
    currency: 'USD',
  }))

  beforeAll(async () => {
    await api.account('acme')
    await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k0' }, { id: 'k1' }])
    await importContent(api.stores, 'acme', 'clicks', clicks)
    await importContent(api.stores, 'acme', 'conversions', conversions)
  })
  afterEach(() => replicas.synchronize())

  const onEachNode = (query: string) => Promise.all(replicas.nodes.map(({ run }) => run('admin', query)))
  const stopFetches = () => Promise.all(replicas.nodes.map((node) => node.stopFetches()))
  const startFetches = () => Promise.all(replicas.nodes.map((node) => node.startFetches()))

  async function expectEqualReplicas(): Promise<void> {
    await replicas.synchronize()
    const contents = (await Promise.all(replicas.nodes.map(contentOfNode))).map((text) =>
      text.replace(/^schema_.*$/m, ''),
    )
    expect(contents.filter((_, index) => index % 2 === 1)).toEqual(contents.filter((_, index) => index % 2 === 0))
  }

  async function expectNoDifferences(): Promise<void> {
    const { code, stderr } = await runHere(['verify'], api.stores.environment)
    expect([code, stderr]).toEqual([0, ''])
  }

  /** Accepts an event as a server with a short time limit does. @returns its outcome, or the code of its error */
  function accept(stores: Pick<Stores, 'clickhouse' | 'postgres'>, eventId: string): Promise<unknown> {
    const intake = openIntake({
      stores,
      inFlight: openInFlightLimit(),
      now: () => testNowMs,
      registry: undefined,
      timeoutMs: 2_500,
      log: { warn: () => {}, error: () => {} },
    })
    const event = { click_id: 'c1', event_name: 'paid', event_id: eventId }
    return acceptAll(intake, [event], { accountId: 'acme', clickAllowance: 1_000_000 }).then(
      ([outcome]) => outcome,
      (error) => error.code,
    )
  }

  const countsOf = async (eventId: string) =>
    (await onEachNode(`SELECT count() FROM tributary_local.pixel_events FINAL WHERE id = '${eventId}'`))
      .map(Number)
      .sort()

  describe('an event', () => {
    it('is acknowledged only when both replicas have it, and then once', async () => {
      await stopFetches()
      expect(await accept(api.stores, 'one')).toBe('unavailable')
      expect(await countsOf('one')).toEqual([...Array(2 * shards - 1).fill(0), 1])
      expect(await accept(api.stores, 'one')).toBe('unavailable')
      await startFetches()
      await replicas.synchronize()
      expect(await accept(api.stores, 'one')).toBe('duplicate')
      expect(await countsOf('one')).toEqual([...Array(2 * shards - 2).fill(0), 1, 1])
    })

    it('is not acknowledged when each replica has the row of another attempt', async () => {
      await stopFetches()
      await onEachNode(`
        INSERT INTO tributary_local.pixel_events (account_id, id, origin, event_name, received_at, stored_at)
        SELECT 'acme', 'apart', 'server', 'paid', fromUnixTimestamp64Milli(${testNowMs}), now64(3) - port
        FROM (SELECT tcpPort() AS port)`)
      expect(await accept(api.stores, 'apart')).toBe('unavailable')
      await startFetches()
      await replicas.synchronize()
      expect(await accept(api.stores, 'apart')).toBe('duplicate')
    })

    it('keeps its generation while one replica lacks an earlier one', async () => {
      const [first] = replicas.nodes
      await stopFetches()
      await first.run(
        'admin',
        `INSERT INTO tributary_local.pixel_events (account_id, id, origin, generation, received_at, stored_at)
         SELECT 'acme', 'again', 'server', 3, moment, moment FROM (SELECT fromUnixTimestamp64Milli(${testNowMs - 30 * hourMs}) AS moment)`,
      )
      const event = { accountId: 'acme', id: 'again' }
      const last = (await findAcceptances(api.stores.clickhouse, [event], running.signal))(event)
      expect(last).toMatchObject({ generation: 3, isConfirmed: false })
      expect(generationAfter(last, testNowMs - 20 * hourMs)).toBe(3)
      expect(generationAfter(last && { ...last, storedForMs: 30 * hourMs }, testNowMs)).toBe(4)
      await startFetches()
    })
  })

  it('an import sends an event again that only one replica has', async () => {
    const set = await openWriteSession(api.stores, running)
    onTestFinished(() => set.close())
    const known = (id: string) =>
      new ExistingKeys(set, storedPixelEvents, 'await').findExisting([`acme server ${id} 0`])
    await stopFetches()
    expect(await accept(api.stores, 'sent')).toBe('unavailable')
    expect(await known('sent')).toEqual(new Set())
    await startFetches()
    await replicas.synchronize()
    expect(await known('sent')).toEqual(new Set(['acme server sent 0']))
  })

  it('a repair waits until its node has all rows', async () => {
    await api.account('late')
    const rows = (prefix: string) => clicks.map((click) => ({ ...click, id: `${prefix}${click.id}` }))
    await importContent(api.stores, 'late', 'clicks', rows('a'))
    await onEachNode('SYSTEM STOP FETCHES tributary_local.sums_by_day')
    const importing = importContent(api.stores, 'late', 'clicks', rows('b'), shortWindow).catch(() => {})
    // One replica of each shard has its sums.
    const stored = async () => {
      const sums = await onEachNode(
        `SELECT sum(clicks) FROM tributary_local.sums_by_day WHERE account_id = 'late' AND dimension = 'country'`,
      )
      return sums.reduce(
        (sum, _, index) => sum + Math.max(...sums.slice(index, index + 2).map(Number)) * ((index + 1) % 2),
        0,
      )
    }
    await expect.poll(stored).toBe(200)
    await expireProcessOf(api.stores, 'late')
    const log = { info: () => {}, warn: () => {} }
    let isOver = false
    const recovery = recoverAccounts(there, log, running.signal).finally(() => {
      isOver = true
    })
    const waits = async () =>
      isOver ||
      Number((await onEachNode(`SELECT count() FROM system.processes WHERE query LIKE 'SYSTEM SYNC%'`)).join('')) > 0
    await expect.poll(waits).toBe(true)
    await startFetches()
    await Promise.all([recovery, importing])
    await expectEqualReplicas()
    const sums = `SELECT sum(clicks) AS clicks FROM sums_by_day WHERE account_id = 'late' AND dimension = 'country'`
    expect(await rowsOf(there, sums)).toEqual([{ clicks: 200 }])
    await expectNoDifferences()
  })

  it('a repair deletes the same rows on both replicas, with mutations that each shard gets once', async () => {
    const settings = `SETTINGS distributed_foreground_insert = 1, insert_quorum = 'auto'`
    const [first] = replicas.nodes
    // As long as ids may be, and more than one mutation can name.
    const id = `concat(repeat('x', 58), toString(100000 + number))`
    for (const rows of [
      `click_index (account_id, id, clicked_at, campaign_id) SELECT 'acme', ${id}, '2026-11-01 00:00:00', repeat('k', 64) FROM numbers(4500)`,
      `conversion_index (account_id, id, version, converted_at) SELECT 'acme', 'v' || number, 1e17, '2026-11-01 00:00:00' FROM numbers(30)`,
      `converted_clicks (account_id, clicked_at, click_id, conversion_id, version) SELECT 'acme', '2026-11-01 00:00:00', 'ghost', 'v1', 1 FROM numbers(1)`,
      `converted_click_rows (account_id, clicked_at, id, city) SELECT account_id, clicked_at, id, 'Rom' FROM clicks WHERE id = 'c3'`,
    ]) {
      await first.run(
        'admin',
        `INSERT INTO tributary.${rows.replace(' FROM clicks', ' FROM tributary.clicks')} ${settings}`,
      )
    }
    const { code, stdout, stderr } = await runHere(['verify', '--repair'], api.stores.environment)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/click_index/)
    await expectEqualReplicas()
    await expectNoDifferences()
    // Two registrations of one statement differ in the present time. Both nodes register a migration.
    const mutations = await onEachNode(`
      SELECT count() - uniqExact(table, replaceRegexpAll(command, '_CAST.{10,20},', '')), max(length(command)) < 1000000, countIf(NOT is_done)
      FROM system.mutations WHERE database = 'tributary_local' AND command NOT LIKE '%PROJECTION%'`)
    expect(new Set(mutations)).toEqual(new Set(['0\t1\t0']))
  })

  it('a repair deletes thousands of clicks with long ids that are stored twice', async () => {
    await api.account('twice')
    const long = (n: number) => `${'x'.repeat(58)}${100_000 + n}`
    const rows = Array.from({ length: 2_500 }, (_, n) => ({ id: long(n), clickedAt: '2026-11-01T00:00:00.000Z' }))
    await importContent(api.stores, 'twice', 'clicks', rows)
    await replicas.nodes[0].run(
      'admin',
      `INSERT INTO tributary.clicks (account_id, id, clicked_at, campaign_id, stored_at)
       SELECT account_id, id, clicked_at + 1, repeat('k', 64), stored_at + 1 FROM tributary.clicks WHERE account_id = 'twice'
       SETTINGS distributed_foreground_insert = 1, insert_quorum = 'auto', parallel_distributed_insert_select = 0`,
    )
    const { code } = await runHere(['verify', '--repair', '--account', 'twice'], api.stores.environment)
    expect(code).toBe(0)
    await expectEqualReplicas()
    expect(await rowsOf(there, `SELECT count() AS clicks FROM clicks WHERE account_id = 'twice'`)).toEqual([
      { clicks: 2_500 },
    ])
  })

  it('an erasure of thousands of visitors is complete, on the disks of both replicas, in the time that an import waits for it', async () => {
    // More than one value of Keeper could have.
    const visitors = [...Array(10).keys()]
      .map((n) => `v${n}`)
      .concat([...Array(shards === 1 ? 13_000 : 10).keys()].map((n) => `none${n}`))
    await withWriter(api.stores, 'acme', async (writer) => {
      const key = await readErasureKey(writer)
      const kind = 'visitor'
      const hashes = visitors.map((id) => identifierHash(key, kind, id))
      await addErasures(
        writer,
        hashes.map((hash) => ({ kind, key, hash, erasedMs: testNowMs })),
      )
      expect(await completeErasures(writer, { inFlightMs: 0, ifStillRead: 'leave' })).toMatchObject({ clicks: 100 })
      expect(await hasIncompleteErasures(writer)).toBe(false)
    })
    const left = `
      SELECT countIf(city != ''), (SELECT max(length(command)) < 1000000 FROM system.mutations)
      FROM tributary_local.clicks WHERE account_id = 'acme'`
    expect(new Set(await onEachNode(left))).toEqual(new Set(['0\t1']))
  })
})
