// @module-tag all

import { randomUUID } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { readSettings } from '../../src/settings/settings.ts'
import { ownerGrants, readerGrants, readerSettings, writerGrants } from '../../src/stores/clickhouse/grants.ts'
import { matchNothingAfter, runStatement } from '../../src/stores/clickhouse/insert.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../src/stores/clickhouse/sql.ts'
import { isAnyOf } from '../../src/stores/clickhouse/textList.ts'
import { killQueries } from '../../src/stores/cluster/killQueries.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { completeErasures } from '../../src/writer/erasure/completeErasures.ts'
import { addErasures, identifierHash, readErasureClock, readErasureKey } from '../../src/writer/erasure/erasures.ts'
import { deleteRows } from '../../src/writer/fence/mutations.ts'
import { removeMonths } from '../../src/writer/removeMonths.ts'
import { accepted, send } from '../api/events/send.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { openTestAppBeside } from '../kit/app.ts'
import { documentedUsers, startClickHouse } from '../kit/clickhouseServer.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { copyMigrations, nextMigrations } from '../kit/program.ts'
import { freePort } from '../kit/serverProcess.ts'
import { openTestStores } from '../kit/stores.ts'
import { withWriter } from '../writer/withWriter.ts'

// The users that `docs/clickhouse-users.sql` makes.
const owner = 'tributary_owner'
const writer = 'tributary_writer'
const reader = 'tributary_reader'

const server = useOpened(() => startClickHouse())
// The server is this file's own, whatever the others run on.
const alone = { CLICKHOUSE_CLUSTER: '', CLICKHOUSE_NODES: '' }
const api = useOpened(async () => {
  const asOwner = await openTestStores({ ...alone, CLICKHOUSE_URL: server.url(owner) })
  const users = { CLICKHOUSE_URL: server.url(writer), CLICKHOUSE_READER_URL: server.url(reader) }
  return await openTestAppBeside(asOwner, { ...alone, ...users })
})
const folder = useFolder()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
})

const get = async (path: string) => {
  const response = await api.get(path, key)
  return [response.statusCode, response.json()]
}

// What these grants refuse: test/stores/embedded/engineAccess.test.ts.
it('docs/clickhouse-users.sql grants the users of a server the same rights as the users of the embedded engine', async () => {
  const documented = new Map((await documentedUsers(false)).map((user) => [user.name, user]))
  expect(documented.get(owner)?.grants).toEqual(ownerGrants('tributary'))
  expect(documented.get(writer)?.grants).toEqual(writerGrants('tributary'))
  expect(documented.get(reader)?.grants).toEqual(readerGrants('tributary'))
  const settings = readerSettings({ query: 4_000_000_000, reader: 6_000_000_000 })
  expect(documented.get(reader)?.settings).toEqual(settings)
})

it.each([
  'CREATE TABLE tributary.x (a String) ENGINE = Memory',
  `CREATE TABLE tributary.x (a String) ENGINE = File(TSV, '/tmp/x')`,
  `CREATE TABLE tributary.x (a String) ENGINE = URL('http://127.0.0.1:1/', TSV)`,
  `CREATE TABLE tributary.x (a String) ENGINE = S3('http://127.0.0.1:1/b/k', TSV)`,
  `CREATE TABLE tributary.x (a String) ENGINE = Distributed(c, system, one)`,
  `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
  'CREATE DATABASE other',
  'DROP DATABASE tributary',
  'SYSTEM SHUTDOWN',
])('the owner can’t %s', async (statement) => {
  await expect(server.run(owner, statement)).rejects.toThrow(/ACCESS_DENIED/)
})

it('the writer and the reader find nothing to migrate once the owner has', async () => {
  expect(await migrate(api.stores)).toEqual([])
  await copyMigrations(folder('next'), nextMigrations)
  await expect(migrate(api.stores, folder('next'))).rejects.toThrow('run "tributary migrate" as their owner')
})

it('the writer and the reader are sufficient to import, to store events and to serve requests', async () => {
  const rows = {
    campaigns: [{ id: 'camp', name: 'Camp' }],
    clicks: [{ id: 'c1', clickedAt: '2026-11-20T10:00:00Z', campaignId: 'camp', city: 'Lyon' }],
    conversions: [10, 13].map((hour) => ({
      id: 'v1',
      clickId: 'c1',
      convertedAt: '2026-11-20T11:00:00Z',
      status: 'approved',
      revenueBase: hour - 6,
      updatedAt: `2026-11-20T${hour}:00:00Z`,
    })),
  }
  for (const [resource, lines] of Object.entries(rows)) {
    expect(await importContent(api.stores, 'acme', resource as keyof typeof rows, lines)).toMatchObject({
      rejected: 0,
    })
  }
  expect(await send(api.app, key, { click_id: 'c1', event_name: 'a', event_id: 'e1' })).toEqual(accepted)
  expect(await get('/clicks')).toMatchObject([200, { data: [{ id: 'c1', conversionCount: 1 }] }])
  expect(await get('/conversions')).toMatchObject([200, { data: [{ id: 'v1' }] }])
  expect(await get('/reports?group_by=campaign')).toMatchObject([
    200,
    { totals: { clicks: 1, conversions: 1, revenue: 7 } },
  ])
  expect(await get('/stats/daily?days=3')).toMatchObject([200, {}])
})

describe('the writer', () => {
  it('deletes rows and ends its own queries, as repairs do', async () => {
    const { clickhouse } = api.stores
    const indexed = `SELECT count() FROM tributary.click_index WHERE account_id = 'acme' AND id = 'c1'`
    expect(await server.run(writer, indexed)).toBe('1')
    await withWriter(api.stores, 'acme', (writing) =>
      deleteRows(writing, ch`click_index`, ch`account_id = 'acme' AND id = 'c1'`, 'test.delete'),
    )
    expect(await server.run(writer, indexed)).toBe('0')
    const repair = await runHere(['verify', '--account', 'acme', '--repair', '--json'], api.stores.environment)
    expect([repair.code, JSON.parse(repair.stdout)]).toMatchObject([0, { repaired: true }])
    expect(await server.run(writer, indexed)).toBe('1')

    const endless =
      'SELECT count() FROM (SELECT arrayJoin(range(1000000))) AS a, (SELECT arrayJoin(range(1000000))) AS b'
    const reading = clickhouse.client.query({ query: endless, query_id: 'own-1' }).then((result) => result.text())
    const ended = expect(reading).rejects.toMatchObject({ type: 'QUERY_WAS_CANCELLED' })
    const listed = `SELECT count() FROM system.processes WHERE query_id = 'own-1'`
    await expect.poll(() => server.run(writer, listed), { timeout: 20_000 }).toBe('1')
    await killQueries(clickhouse, 'own-')
    await ended
    expect(await server.run(writer, listed)).toBe('0')
  })

  it('may send repairs to replicated tables, and a mutation with a subquery is rejected', async () => {
    // Without Keeper a table can be attached, not changed: a statement that the table does not reject ends with that reason.
    const query = `ATTACH TABLE tributary.replicated UUID '${randomUUID()}' (account_id String)
       ENGINE = ReplicatedMergeTree('/clickhouse/tables/one/replicated', 'one') ORDER BY account_id`
    await server.run('admin', query)
    const repair = (where: Fragment) =>
      runStatement(
        api.stores.clickhouse.client,
        ch`DELETE FROM replicated WHERE ${where} AND ${matchNothingAfter(Date.now())}`,
        'test',
      )
    await expect(repair(isAnyOf(ch`account_id`, ['acme', 'other']))).rejects.toMatchObject({ code: 'unavailable' })
    const subquery = ch`account_id IN (SELECT account_id FROM clicks)`
    await expect(repair(subquery)).rejects.toMatchObject({ type: 'BAD_ARGUMENTS' })
    await server.run('admin', 'DETACH TABLE tributary.replicated')
  })

  it('erases a click, sees that the replaced parts are gone, and removes months of clicks and events', async () => {
    await withWriter(api.stores, 'acme', async (writing) => {
      const erasureKey = await readErasureKey(writing)
      const hash = identifierHash(erasureKey, 'click', 'c1')
      await addErasures(writing, [{ kind: 'click', key: erasureKey, hash, erasedMs: await readErasureClock(writing) }])
      expect(await completeErasures(writing, { inFlightMs: 0 })).toEqual({ clicks: 1, conversions: 1, events: 0 })
      expect(await get('/clicks')).toMatchObject([200, { data: [{ id: 'c1', city: null }] }])
      const until = { clicksMs: Date.UTC(2026, 11, 1), eventsMs: Date.UTC(2090, 0, 1) }
      const audit = (sql: typeof api.stores.postgres) => sql`audited AS (SELECT FROM recorded)`
      expect(await removeMonths(writing, until, { audit, announceMs: 0 })).toEqual({ clicks: 1, events: 1 })
    })
    expect(await get('/reports?group_by=campaign')).toMatchObject([200, { totals: { clicks: 1, revenue: 7 } }])
  })
})

it('the setting must name the database of CLICKHOUSE_URL', async () => {
  const other = server.url(reader).replace(/tributary$/, 'default')
  const settings = readSettings({ ...api.stores.environment, CLICKHOUSE_READER_URL: other })
  await expect(openStores(settings, () => {})).rejects.toThrow(/^CLICKHOUSE_READER_URL: the database differs/)
  const wrong = server.url(reader).replace(`${reader}:${reader}`, `${reader}:wrong`)
  await expect(
    openStores(readSettings({ ...api.stores.environment, CLICKHOUSE_READER_URL: wrong }), () => {}),
  ).rejects.toThrow(/^CLICKHOUSE_READER_URL: ClickHouse rejects the connection: .*Authentication failed/)
})

it('a start waits for an unreachable server, and logs it once', async () => {
  const { CLICKHOUSE_READER_URL: _, ...rest } = api.stores.environment
  const port = await freePort()
  const CLICKHOUSE_URL = server.url(writer).replace(`:${server.port}/`, `:${port}/`)
  const settings = readSettings({ ...rest, CLICKHOUSE_URL })
  await expect(openStores(settings, () => {})).rejects.toThrow(/^CLICKHOUSE_URL: ClickHouse does not respond: /)
  const said: string[] = []
  const opening = openStores(settings, ({ message }) => said.push(message), { waitMs: 60_000 })
  await expect.poll(() => said, { timeout: 20_000 }).toHaveLength(1)
  expect(said[0]).toMatch(/^Waiting for CLICKHOUSE_URL: ClickHouse: .*ECONNREFUSED/)
  // A relay at the address makes the server reachable.
  const relay = createServer((socket) => {
    const relayed = connect(server.port, '127.0.0.1')
    socket.pipe(relayed).pipe(socket)
    for (const one of [socket, relayed]) one.on('error', () => {})
  }).listen(port, '127.0.0.1')
  const late = await opening
  expect(said).toHaveLength(1)
  await late.close()
  relay.close()
})

/** Between 5 s, after which a read fails, and 30 s, after which a connection without traffic is closed. */
const late = () => pause(20_000, 'late')

it('a read gets 503 soon while ClickHouse is stopped, and 200 once it goes on', { tags: 'long' }, async () => {
  const overview = () => api.get('/stats/overview', key)
  expect((await overview()).statusCode).toBe(200)
  server.pause()
  try {
    const response = await Promise.race([overview(), late()])
    expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } })
    expect((await api.app.inject('/readyz')).json().message).toBe('Not ready: ClickHouse did not respond.')
  } finally {
    server.resume()
  }
  await expect.poll(async () => (await overview()).statusCode).toBe(200)
})

it('a read that is merely long is completed', { tags: 'long' }, async () => {
  const query = ch`SELECT sum(sleepEachRow(1)) AS slept, count() AS rows FROM numbers(9)`
  const options = { label: 'test', settings: { max_block_size: '1' } }
  expect(await selectRows(api.stores.clickhouse, query, options)).toEqual([{ slept: 0, rows: 9 }])
})
