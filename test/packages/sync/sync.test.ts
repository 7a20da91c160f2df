// @module-tag all

import { execFile, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Dimension, dimensions, timeDimensions } from '../../../schema/dimensions.ts'
import { metricNames } from '../../../schema/metrics.ts'
import { packageRoot } from '../../../src/package.ts'
import descriptions from '../../../src/packages/sync/database/descriptions.json' with { type: 'json' }
import { run } from '../../../src/packages/sync/program.ts'
import { synchronize } from '../../../src/packages/sync/runs.ts'
import { parseRow } from '../../../src/packages/sync/source/received.ts'
import { changing, columnNameOf } from '../../../src/packages/sync/source/resources.ts'
import { removeMonths } from '../../../src/writer/removeMonths.ts'
import { expectOneLine } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { makeKey } from '../../kit/accounts.ts'
import { forward, openApiProxy } from '../../kit/apiProxy.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'
import { withWriter } from '../../writer/withWriter.ts'
import { runProgram } from '../runProgram.ts'
import { expectEqualRows } from './expectEqualRows.ts'
import { queryDuckdb } from './queryDuckdb.ts'
import {
  byCampaign,
  clickCount,
  clickDay,
  clicks,
  conversionCount,
  conversions,
  costs,
  firstMs,
  metricsOf,
  numbersOf,
  serverEvents,
  untilEventsAreListed,
  useSource,
} from './source.ts'

const api = useTestApp()
const source = useSource(api)
const target = useOpened(() => openCopyTarget(api.stores))
const folder = useFolder()
const file = () => folder('copy.duckdb')
let environment: Record<string, string>
const requests: string[] = []

beforeAll(() => {
  api.app.server.on('request', ({ url }) => requests.push(url ?? ''))
  environment = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: source.key, ...target.environment }
})

type Copy = { place(): string; query(statements: string): PromiseLike<Record<string, unknown>[]> }

const copies = {
  PostgreSQL: { place: () => target.url, query: (statements) => target.sql.unsafe(statements) },
  DuckDB: { place: file, query: (statements) => queryDuckdb(file(), statements) },
} satisfies Record<string, Copy>
const databases = ['PostgreSQL', 'DuckDB'] as const
const execute = copies.DuckDB.query
const program = join(packageRoot, 'src/packages/sync/dist/main.js')
const november = { from: '2026-11-01', to: '2026-11-30' }

interface Synced {
  rows: Record<string, number>
  filled: object
  verified?: Record<string, { days: number; rows: number; compared: string[]; repaired: string[] }>
  /** Only of a folder. */
  written?: Record<'clicks' | 'conversions' | 'costs' | 'events', string[]>
}

/** @param place a folder, or the database @param url of the server, or of a proxy in front of it */
const wordsOf = (place: string, url = source.baseUrl) => [place, '--url', url, '--json']

async function syncTo(place: string, ...more: string[]): Promise<Synced> {
  const { code, stdout, stderr } = await runProgram(run, [...wordsOf(place), ...more], environment)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const sync = (...more: string[]) => syncTo(target.url, ...more)

/** Kills the program when it has received half of an export of a resource. */
async function killDuring(resource: string): Promise<void> {
  const signals = new EventEmitter()
  const proxy = await openApiProxy(source.baseUrl, {
    async answer(outgoing, response, path) {
      if (!path.startsWith(`/api/v1/${resource}?`) || !path.includes('format=parquet'))
        return forward(outgoing, response)
      outgoing.writeHead(response.statusCode ?? 0, response.headers)
      const content = await buffer(response)
      outgoing.write(content.subarray(0, content.length / 2))
      signals.emit('stalled')
    },
  })
  const stalled = once(signals, 'stalled')
  const child = spawn(process.execPath, [program, file(), '--url', proxy.url], {
    env: environment,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await stalled
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  await proxy.close()
}

describe('tributary-sync', () => {
  it('continues at the cursor of an unfinished copy in few requests', async () => {
    await untilEventsAreListed(source.client, 80)
    await sync()
    const copy = target.sql
    // As a killed process leaves it. The export is ordered from the newest row to the oldest.
    const { data, nextCursor } = await source.client.get('/clicks', { query: { limit: 100 } })
    await copy`DELETE FROM tributary.clicks WHERE id NOT IN ${copy(data.map(({ id }) => id))}`
    await copy`UPDATE tributary.sync_state SET next_since = since, since = NULL, cursor = ${nextCursor} WHERE resource = 'clicks'`
    requests.length = 0
    const rest = clickCount - data.length
    expect((await sync()).rows).toMatchObject({ clicks: rest, conversions: 0, costs: 0, events: 0 })
    expect(requests.length).toBeLessThan(20)
    expect(requests.filter((path) => path.includes('cursor='))).toHaveLength(1)
  })

  it('into DuckDB continues wherever it is killed', async () => {
    await killDuring('conversions')
    const words = [file(), '--no-sync', '--sql', 'SELECT count(*) AS conversions FROM conversions', '--format', 'csv']
    const { stdout, stderr } = await runProgram(run, words, environment)
    expect([stdout, stderr]).toEqual(['conversions\r\n0\r\n', '1 row as of an unfinished copy\n'])
    expect((await syncTo(file())).rows).toMatchObject({ clicks: 0, conversions: conversionCount, events: 80 })
    expect((await readdir(folder())).filter((name) => !/^(copy\.duckdb|of-1\.1)/.test(name))).toEqual([])
  })

  it('reads the digits of amounts, and every other value as JSON.parse', () => {
    const line =
      '{"value":1.2345678901234567e22,"score":0.12345678901234567,"sub1":"\\":123456789012.123456","cost":12}'
    expect(parseRow(line)).toEqual(JSON.parse(line))
    expect(parseRow(line.replace(':12}', ':-123456789012.123456}'))).toMatchObject({ cost: '-123456789012.123456' })
  })

  it.each(databases)(
    '--verify of %s does not replace a day whose rows change after its checksums',
    async (database) => {
      const name = `changing_${database.toLowerCase()}`
      const key = await api.account(name)
      const store = (round: number) =>
        importContent(api.stores, name, 'conversions', conversions(0, 200, 'approved', round))
      await store(0)
      let round = 0
      const proxy = await openApiProxy(source.baseUrl, {
        async answer(outgoing, response, path) {
          if (path.startsWith('/api/v1/checksums/conversions') && round === 1) await store(round++)
          forward(outgoing, response)
        },
      })
      const place = database === 'DuckDB' ? folder(`copy_${name}.duckdb`) : target.url
      const words = [...wordsOf(place, proxy.url), '--resources', 'conversions', '--schema', name]
      const own = { ...environment, TRIBUTARY_KEY: key }
      expect((await runProgram(run, words, own)).code).toBe(0)
      round = 1
      const { stdout } = await runProgram(run, [...words, '--verify'], own)
      expect([round, JSON.parse(stdout).verified.conversions]).toMatchObject([2, { rows: 200, repaired: [] }])
      await proxy.close()
    },
  )

  it('into DuckDB has a row of another day that is stored while the first pass begins', async () => {
    const key = await api.account('beginning')
    const store = (n: number) => importContent(api.stores, 'beginning', 'costs', costs(n, n + 1, 0))
    await store(0)
    let requested = 0
    const proxy = await openApiProxy(source.baseUrl, {
      before: (path) => path.startsWith('/api/v1/checksums/costs?from=2026') && requested++ === 0 && store(24),
    })
    const words = [...wordsOf(folder('beginning.duckdb'), proxy.url), '--resources', 'costs']
    const { stdout } = await runProgram(run, words, { ...environment, TRIBUTARY_KEY: key })
    expect([requested, JSON.parse(stdout).rows.costs]).toEqual([1, 2])
    await proxy.close()
  })

  it('copies every digit of large amounts, which --verify confirms', async () => {
    const key = await api.account('rich')
    const amounts = ['-123456789012.000000', '123456789012.123456', '999999999999.999999']
    const rows = amounts.map((cost, at) => `{"id":"r${at}","spentAt":"2026-11-20T10:00:00Z","cost":${cost}}\n`)
    expect(await importContent(api.stores, 'rich', 'costs', rows.join(''))).toMatchObject({ inserted: 3 })
    const words = [...wordsOf(target.url), '--resources', 'costs', '--schema', 'rich', '--verify']
    const { code, stdout } = await runProgram(run, words, { ...environment, TRIBUTARY_KEY: key })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).verified.costs).toMatchObject({ rows: 3, repaired: [] })
    const stored = await target.sql`SELECT cost::text AS cost FROM rich.costs ORDER BY id`
    expect(stored.map(({ cost }) => cost)).toEqual(amounts)
    await target.sql`DROP SCHEMA rich CASCADE`
  })

  it('follows late clicks, changed and moved conversions, corrected costs, new events, and metadata with another value, a row more or less, in few requests, and fills an added column', async () => {
    await execute(`
      UPDATE tributary.campaigns SET tags = ['a', 'other'];
      INSERT INTO tributary.offers FROM tributary.offers;
      DELETE FROM tributary.traffic_sources;
      DROP VIEW tributary.cost_details;
      ALTER TABLE tributary.costs DROP COLUMN country`)
    await importContent(api.stores, 'acme', 'clicks', clicks(clickCount, clickCount + 50))
    const moved = conversions(80, 120, 'refunded', 2).map((one) => ({ ...one, convertedAt: '2026-11-17T10:00:00Z' }))
    await importContent(api.stores, 'acme', 'conversions', [...conversions(0, 80, 'approved', 1), ...moved])
    await importContent(api.stores, 'acme', 'costs', costs(0, 20, 1))
    await source.client.sendEvents(serverEvents(30, 45))
    await untilEventsAreListed(source.client, 85)
    const changed = { clicks: 50, conversions: 120, events: 5 }
    expect((await sync()).rows).toMatchObject({ ...changed, costs: 20 })
    requests.length = 0
    const { rows, filled } = await syncTo(file())
    const metadata = { campaigns: 1, offers: 1, traffic_sources: 1, landing_pages: 0 }
    expect([rows, filled]).toEqual([{ ...changed, ...metadata, costs: 60 }, { costs: { columns: ['country'] } }])
    expect(requests.length).toBeLessThan(20)
    for (const database of databases) await expectEqualRows(source.client, copies[database].query)
  })

  it('--verify of DuckDB finds a missing, an extra and an old row, another amount, and reads only their days', async () => {
    await execute(`
      DELETE FROM tributary.clicks WHERE id = 'c10';
      INSERT INTO tributary.conversions (id, converted_at, is_test, stored_at)
      VALUES ('extra', '2025-01-01T10:00:00Z', false, '2025-01-01T10:00:00Z');
      UPDATE tributary.clicks SET stored_at = stored_at - INTERVAL '1 ms' WHERE id = 'c120';
      UPDATE tributary.conversions SET revenue_base = revenue_base + 0.000001 WHERE id = 'v200';
      INSERT INTO tributary.clicks SELECT * FROM tributary.clicks WHERE id = 'c10';
      UPDATE tributary.events SET id = 'other' WHERE id = 'e0' AND origin = 'browser';
      UPDATE tributary.sync_state SET since = '2027-01-01T00:00:00Z' WHERE resource = 'events';
      ALTER TABLE tributary.campaigns DROP COLUMN tags`)
    const day = (n: number, ms: number) => new Date(firstMs + n * ms).toISOString().slice(0, 10)
    const { verified, rows, filled } = await syncTo(file(), '--verify')
    expect(filled).toEqual({ campaigns: { columns: ['tags'] } })
    expect(rows).toMatchObject({ costs: 0, offers: 0, landing_pages: 0, traffic_sources: 0 })
    expect(verified).toMatchObject({
      clicks: { repaired: [clickDay(10), clickDay(120)] },
      conversions: { repaired: ['2025-01-01', day(200, 700_000)] },
      events: { repaired: [day(0, 3_000_000)] },
    })
    expect(rows.clicks).toBeLessThan(clickCount)
    await expectEqualRows(source.client, execute)
  })

  it.each(databases)(
    '--verify finds and repairs in %s a difference in any column of the identity, the times and the amount of a row',
    { tags: 'long' },
    async (database) => {
      const { place, query } = copies[database]
      for (const planted of plantedDifferences()) {
        await query(planted.map(({ statement }) => statement).join(';'))
        await query("UPDATE tributary.sync_state SET since = '2027-01-01T00:00:00Z' WHERE resource = 'events'")
        const { verified, rows } = await syncTo(place(), '--verify')
        const repaired = planted.map(({ resource }) => verified?.[resource]?.repaired.length)
        expect([planted, repaired]).toEqual([planted, planted.map(() => 1)])
        expect(rows.clicks).toBeLessThan(clickCount)
      }
      await query(`
        INSERT INTO tributary.conversions (id, converted_at, is_test, stored_at)
        VALUES ('extra', '2025-01-01T10:00:00Z', false, '2025-01-01T10:00:00Z')`)
      expect((await syncTo(place(), '--verify')).verified?.conversions?.repaired).toEqual(['2025-01-01'])
      expect((await syncTo(place(), '--verify')).rows).toMatchObject({ clicks: 0, conversions: 0, events: 0 })
      await expectEqualRows(source.client, query)
    },
  )

  it('fills a column that is added to its tables for all rows, and says so', { tags: 'long' }, async () => {
    await target.sql`ALTER TABLE tributary.clicks DROP COLUMN referrer CASCADE, DROP COLUMN sub1 CASCADE`
    await target.sql`ALTER TABLE tributary.conversions DROP COLUMN status CASCADE`
    await target.sql`ALTER TABLE tributary.events DROP COLUMN properties CASCADE`
    await target.sql`ALTER TABLE tributary.campaigns DROP COLUMN tags CASCADE`
    const { filled, verified } = await sync('--verify')
    expect(filled).toEqual({
      campaigns: { columns: ['tags'] },
      clicks: { columns: ['sub1', 'referrer'].sort() },
      conversions: { columns: ['status'] },
      events: { columns: ['properties'] },
    })
    expect(verified?.clicks?.compared).toEqual(['rows', 'hash of id, clickedAt and storedAt', 'costBase'])
    await expectEqualRows(source.client, copies.PostgreSQL.query)
    expect((await sync()).filled).toEqual({})
  })

  it.each(databases)(
    'has functions in %s that return the numbers of reports by each dimension',
    { tags: 'long' },
    (database) => expectReports(copies[database], dimensions),
  )

  it.each(databases)(
    'has functions in %s that return the numbers of reports and of the daily series',
    async (database) => {
      const { query } = copies[database]
      // Each kind of column, and each that has another name than its dimension.
      const others =
        'campaign offer affiliate_network traffic_source traffic_source_category landing country language referrer_domain region sub1 status'.split(
          ' ',
        )
      await expectReports(copies[database], [...timeDimensions, ...(others as Dimension[])])
      await expectReports(copies[database], ['campaign', 'day'], 'click')
      const ofEvents = [
        'sub1',
        'event_origin',
        'property:text',
        'property:7',
        'property:price',
        'property:blank',
        'property:none',
      ] as const
      await expectReports(copies[database], ofEvents, 'click', 'paid')
      const daily = async (tz: string, countAt: 'click' | 'conversion') => {
        const { data } = await source.client.get('/stats/daily', { query: { tz, ...november, count_at: countAt } })
        const found = await query(`
        SELECT day::text AS id, d.* FROM tributary.daily('${tz}', '2026-11-01', '2026-11-30', '${countAt}') AS d`)
        expect(found.map(({ id, day: _, ...metrics }) => [id, numbersOf(metrics)])).toEqual(
          data.map((row) => [row.id, metricsOf(row)]),
        )
        return data
      }
      for (const tz of ['America/Havana', 'Asia/Kathmandu', 'Australia/Lord_Howe']) await daily(tz, 'conversion')
      expect(await daily('UTC', 'click')).not.toEqual(await daily('UTC', 'conversion'))
      const last = await query(`
      SELECT count(*)::int AS days, max(day) = (now() AT TIME ZONE 'Asia/Kathmandu')::date AS "isToday"
      FROM tributary.daily('Asia/Kathmandu')`)
      expect(last).toEqual([{ days: 30, isToday: true }])
      for (const [statement, message] of [
        ["SELECT * FROM tributary.daily('UTC', NULL, NULL, 'now')", 'Unknown count_at now'],
        [
          "SELECT * FROM tributary.report('colour', '2026-11-01', '2026-12-01')",
          'Unknown dimension colour; use one of campaign, offer, ',
        ],
      ] as const)
        await expect((async () => await query(statement))()).rejects.toThrow(message)
    },
  )

  it('divides exactly, and rounds half away from zero', async () => {
    const [row] = await execute(`
      SELECT tributary.ratio(1.000001, 2)::text AS up, tributary.ratio(-1.000001, 2)::text AS down,
        tributary.ratio(1::bigint, 0) AS none, tributary.ratio(99999999.999999, 0.000001)::text AS large,
        tributary.ratio(NULL, 2) AS missing`)
    expect(row).toEqual({
      up: '0.500001',
      down: '-0.500001',
      none: null,
      missing: null,
      large: '99999999999999.000000',
    })
  })

  it.each(databases)('has views with details in %s', async (database) => {
    const { query } = copies[database]
    const [details] = await query(`SELECT * FROM tributary.click_details WHERE id = 'c0'`)
    const { data } = await source.client.get('/clicks', { query: { order: 'asc', limit: 1 } })
    expect([details?.campaign_name, details?.converted, Number(details?.conversion_count)]).toEqual(
      data.map(({ campaignName, converted, conversionCount }) => [campaignName, converted, conversionCount])[0],
    )
    expect(await query(`SELECT name FROM tributary.countries WHERE id = 'DE'`)).toEqual([{ name: 'Germany' }])
    const [event] = await query(`
      SELECT (properties ->> '7')::boolean AS flag, campaign_name FROM tributary.event_details WHERE id = 'e1' AND origin = 'server'`)
    expect(event).toEqual({ flag: false, campaign_name: 'Spring, "2026"' })
  })

  it.each([
    [
      'PostgreSQL',
      `SELECT relname AS table, obj_description(oid) AS comment FROM pg_class
      WHERE relnamespace = 'tributary'::regnamespace AND relkind IN ('r', 'v')`,
      `SELECT table_name AS table, column_name AS column,
        col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position) AS comment
      FROM information_schema.columns WHERE table_schema = 'tributary'`,
    ],
    [
      'DuckDB',
      `SELECT table_name AS table, comment FROM duckdb_tables()
      UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'tributary'`,
      `SELECT table_name AS table, column_name AS column, comment FROM duckdb_columns()
      WHERE schema_name = 'tributary'`,
    ],
  ] as const)('describes every table, view and column in %s', async (database, ...statements) => {
    const [tables = [], columns = []] = await Promise.all(statements.map((one) => copies[database].query(one)))
    const columnsOf = (table: unknown) =>
      columns.filter((row) => row.table === table).map(({ column, comment }) => [column, comment])
    const described = tables.map(({ table, comment }) => {
      return [table, { description: comment, columns: Object.fromEntries(columnsOf(table)) }]
    })
    const { sync_state, ...others } = descriptions
    const versioned = { ...sync_state, description: expect.stringMatching(/^How far each resource is copied/) }
    expect(Object.fromEntries(described)).toEqual({ ...others, sync_state: versioned })
  })

  it('can be read by DuckDB 1.3', async () => {
    const found = await execute(`SELECT tags['storage_version'] AS version FROM duckdb_databases() WHERE NOT internal`)
    expect(found).toEqual([{ version: 'v1.3.0+' }])
  })

  it('keeps a folder of Parquet files by day, which DuckDB sums to the reports', async () => {
    const files = folder('files')
    const syncFiles = (...more: string[]) => syncTo(files, ...more)
    const first = await syncFiles()
    expect(first.written?.clicks.length).toBeGreaterThan(2)
    const expectSums = async () => expect(await byCampaign.files(files)).toEqual(await byCampaign.report(source.client))
    await expectSums()
    const read = (statement: string) => queryDuckdb(':memory:', statement)
    expect(
      await read(
        `SELECT origin, count(*)::INT AS events FROM read_parquet('${files}/events/*/part.parquet') GROUP BY 1 ORDER BY 1`,
      ),
    ).toEqual([
      { origin: 'browser', events: 40 },
      { origin: 'server', events: 45 },
    ])
    const typed = `SELECT name, typeof("createdAt") AS type FROM read_parquet('${files}/campaigns/part.parquet')`
    expect(await read(typed)).toEqual([{ name: 'Spring, "2026"', type: 'TIMESTAMP WITH TIME ZONE' }])

    // Of no conversion.
    await importContent(api.stores, 'acme', 'clicks', clicks(5_260, 5_270))
    const days = ['2026-11-18', clickDay(5_260), '2026-11-20']
    // A file of a version whose rows had one field less.
    const stateFile = join(files, 'clicks/.tributary-sync.json')
    const state = JSON.parse(await readFile(stateFile, 'utf8'))
    state.fields = state.fields.filter((field: string) => field !== 'ip')
    state.days[0].fields = 'other'
    await writeFile(stateFile, JSON.stringify(state))
    await writeFile(join(files, `clicks/day=${days[2]}/part.parquet`), 'damaged')
    const { filled, written, verified } = await syncFiles('--verify')
    expect(filled).toEqual({ clicks: { columns: ['ip'] } })
    expect(written).toEqual({ clicks: days, conversions: [], costs: [], events: [] })
    expect(verified?.clicks).toMatchObject({ from: days[0], to: days[2], repaired: [days[2]] })
    expect(verified?.clicks?.compared).toContain('digest of each file')
    await expectSums()
  })

  it('writes no file of a day from an export that lacks rows of it', async () => {
    const headers = { authorization: `ApiKey ${environment.TRIBUTARY_KEY}` }
    const proxy = await openApiProxy(source.baseUrl, {
      async answer(outgoing, response, path) {
        if (!path.includes('format=parquet')) return forward(outgoing, response)
        const empty = await fetch(`${source.baseUrl}${path}&country=ZZ`, { headers })
        outgoing.end(Buffer.from(await empty.arrayBuffer()))
      },
    })
    const words = [...wordsOf(folder('lacking'), proxy.url), '--resources', 'clicks']
    const { code, stderr } = await runProgram(run, words, environment)
    const reason = /^error: the export of \/clicks of 2026-11-18 has 0 rows instead of \d+\.\n$/
    expect([code, stderr]).toEqual([1, expect.stringMatching(reason)])
    expect(await readdir(folder('lacking/clicks'), { recursive: true })).toEqual(['day=2026-11-18'])
    await proxy.close()
  })

  it('explains wrong arguments with exit code 2 and failures with exit code 1, in one line', async () => {
    const [, ...rest] = wordsOf(target.url)
    const { TRIBUTARY_KEY: _, ...keyless } = environment
    const other = { ...environment, TRIBUTARY_KEY: await api.account('other') }
    const twoKeys = { ...environment, TRIBUTARY_KEY: `${environment.TRIBUTARY_KEY}\ntrb_live_second` }
    const view = { filters: { sub1: ['aff42'] }, hidden: [] }
    const part = { ...environment, TRIBUTARY_KEY: (await makeKey(api.stores, 'acme', undefined, { view })).key }
    const differs = 'is a copy of account acme; the key belongs to account other.\n'
    for (const [words, env, code, line] of [
      [['mysql://x', ...rest], environment, 2, 'postgres://'],
      [[target.url, ...rest, '--schema', 'a-b'], environment, 2, 'schema'],
      [wordsOf(target.url), keyless, 2, /^error: set TRIBUTARY_KEY /],
      [wordsOf(target.url), twoKeys, 1, 'error: The API key has a line break; copy it again. (401 invalid_api_key)\n'],
      [
        wordsOf(target.url),
        part,
        1,
        'error: The key test sees a part of its account; a copy needs a key that sees all',
      ],
      [wordsOf(target.url), other, 1, `error: the schema tributary ${differs}`],
      [wordsOf(file()), other, 1, differs],
      [wordsOf(folder('files')), other, 1, `error: ${folder('files')} ${differs}`],
    ] as const)
      expectOneLine(await runProgram(run, words, env), code, line)
    const wrong = { ...environment, TRIBUTARY_KEY: 'trb_live_wrong' }
    expectOneLine(await runProgram(run, wordsOf(target.url), wrong), 1, /invalid_api_key\)\n$/)
  })

  it('explains in one line that another process uses the file, or that it is no database', async () => {
    const expectRefused = async (place: string, line: string) =>
      expectOneLine(await runProgram(run, [place, '--url', source.baseUrl], environment), 1, line)
    const open = `const { DuckDBInstance } = await import('@duckdb/node-api')
      globalThis.opened = await (await DuckDBInstance.create(process.argv[1])).connect()
      console.log('open')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', open, file()], { cwd: packageRoot })
    await once(child.stdout, 'data')
    await expectRefused(file(), `${file()} cannot be opened: IO Error: Could not set lock`)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await writeFile(folder('text.duckdb'), 'text')
    await expectRefused(folder('text.duckdb'), 'text.duckdb cannot be opened: ')
    await expectRefused(folder('tributary.duckdb'), 'must not be named like the schema')
  })

  it('keeps rows that the source removes by age, also between the checksum and the export of a day', async () => {
    const counted = async () =>
      await target.sql`
      SELECT (SELECT count(*) FROM tributary.clicks)::int AS clicks, (SELECT count(*) FROM tributary.events)::int AS events`
    const files = folder('files')
    await sync('--resources', 'clicks')
    // Both copies will read a day again that differs.
    await target.sql`DELETE FROM tributary.clicks WHERE id = 'c1'`
    const state = join(files, 'clicks/.tributary-sync.json')
    await writeFile(state, (await readFile(state, 'utf8')).replaceAll(/"hash":"\w+"/g, `"hash":"${'0'.repeat(15)}"`))
    const before = [await counted(), await readFilesIn(join(files, 'clicks'))]

    const signals = new EventEmitter()
    let exports = 0
    const proxy = await openApiProxy(source.baseUrl, {
      async before(path) {
        if (!/^\/api\/v1\/clicks\?from=2026-11-\d\d&to=.*&format=/.test(path)) return
        exports += 1
        if (exports === 1) await once(signals, 'removed')
        if (exports !== 2) return
        await removeAll()
        signals.emit('removed')
      },
    })
    const print = new PassThrough()
    const options = { url: proxy.url, resources: ['clicks'], schema: 'tributary', print }
    const [written] = await Promise.all([
      // `syncTo` sets the environment of this process, from which `synchronize` reads the connection too.
      syncTo(files, '--url', proxy.url, '--resources', 'clicks'),
      synchronize(
        target.url,
        `${environment.TRIBUTARY_KEY}`,
        { ...options, verify: true, json: true },
        new AbortController().signal,
      ),
    ])
    await proxy.close()
    expect(JSON.parse(`${print.read()}`).verified).toMatchObject({ clicks: { repaired: [] } })
    expect(written).toMatchObject({ filled: {}, written: { clicks: [] } })
    const later = await sync('--verify')
    expect(Object.values(later.verified ?? {}).map(({ repaired }) => repaired)).toEqual([[], [], [], []])
    expect((await syncTo(files)).written).toEqual({ clicks: [], conversions: [], costs: [], events: [] })
    expect([await counted(), await readFilesIn(join(files, 'clicks'))]).toEqual(before)
  })
})

// `script` of util-linux runs a command on a terminal; `script` of macOS has other options.
describe.skipIf(process.platform !== 'linux')('the progress bar of tributary-sync', () => {
  beforeAll(async () => {
    const clicks = ['18', '19', '20'].flatMap((day) =>
      [1, 2].map((n) => ({ id: `c${day}-${n}`, clickedAt: `2026-11-${day}T10:00:00Z` })),
    )
    key = await api.account('shown')
    await importContent(api.stores, 'shown', 'clicks', clicks)
  })
  let key: string

  async function onTerminal(target: string, more: string): Promise<string> {
    const command = `"$NODE" "$PROGRAM" "${target}" --url "${source.baseUrl}" --resources clicks ${more}`
    const env = { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', TRIBUTARY_KEY: key }
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
      cwd: folder(),
      env: { ...env, NODE: process.execPath, PROGRAM: program },
    })
    return stdout
  }

  it('shows the resource, the share, the rows and their rate, then disappears from the terminal', async () => {
    const shown = await onTerminal('bar', '')
    expect(shown).toContain(`clicks ${'█'.repeat(10)}${'░'.repeat(20)} 33 % · 2 rows, 2 per second`)
    // The line is cleared and the cursor shown again before the result.
    const ended = shown.slice(shown.lastIndexOf('per second'))
    expect(ended).toContain('\u001b[2K')
    expect(ended).toContain('\u001b[?25h')
    expect(shown.split('\r\n').slice(-3)).toEqual([
      expect.stringMatching(/Files written: clicks of 3 days\.$/),
      expect.stringMatching(/^Rows stored: clicks 6/),
      '',
    ])
  })

  it('is followed by the rows of --sql as a table', async () => {
    const shown = await onTerminal('shown.duckdb', `--sql "SELECT min(id) AS first, count(*) AS clicks FROM clicks"`)
    expect(shown).toContain('first  clicks\r\n─────  ──────\r\nc18-1       6\r\n')
  })

  it('is not shown in what a program reads from standard output', async () => {
    const shown = await onTerminal('output', '--json > output.json; cat output.json | sed s/^/result:/')
    expect(shown).toContain('33 %')
    expect(JSON.parse(/result:(.*)/.exec(shown)?.[1] ?? '')).toMatchObject({ rows: { clicks: 6 } })
  })
})

const changedBy: Record<string, string> = {
  text: "|| 'x'",
  bigint: '+ 1',
  timestamptz: "+ interval '1 ms'",
  'numeric(18,6)': '+ 0.000001',
}

/**
 * Statements that change a column of a row of a copy: each column of the identity, the times and the amount.
 * @returns sets of statements, each with at most one of a resource
 */
function plantedDifferences(): { resource: string; statement: string }[][] {
  const columns = changing.map(({ name, key, time, amount, fields }) =>
    [...key, time, 'storedAt', ...(amount ? [amount] : [])].map((field) => {
      const column = columnNameOf(field)
      const changed = `${column} ${changedBy[`${fields[field]}`.replace(' NOT NULL', '')]}`
      const row = `(SELECT min(id) FROM tributary.${name} WHERE ${column} IS NOT NULL)`
      return { resource: name, statement: `UPDATE tributary.${name} SET ${column} = ${changed} WHERE id = ${row}` }
    }),
  )
  const countMax = Math.max(...columns.map(({ length }) => length))
  return Array.from({ length: countMax }, (_, n) => columns.flatMap((one) => one[n] ?? []))
}

/** Checks that the function of a copy has the reports of the API by dimensions. */
async function expectReports(
  { query }: Copy,
  names: readonly Dimension[],
  countAt: 'click' | 'conversion' = 'conversion',
  event?: string,
): Promise<void> {
  const metrics = [...metricNames, ...(event ? ([`events:${event}`, `eventVisitors:${event}`] as const) : [])]
  for (const dimension of names) {
    const asked = {
      group_by: dimension,
      ...november,
      count_at: countAt,
      ...(event && { metrics: metrics.join() as 'clicks,cost' }),
    }
    const { data, from, to } = await source.client.get('/reports', { query: asked })
    const more = event ? `, '${event}'` : ''
    const found = await query(`SELECT * FROM tributary.report('${dimension}', '${from}', '${to}', '${countAt}'${more})`)
    const ofRow = (row: object) =>
      Object.fromEntries(Object.entries(metricsOf(row)).map(([name, value]) => [name.replace(`:${event}`, ''), value]))
    expect(found.map(({ id, name, ...metrics }) => [dimension, id, name, numbersOf(metrics)])).toEqual(
      data.map((row) => [dimension, row.id, row.name, ofRow(row)]),
    )
  }
}

async function readFilesIn(path: string): Promise<[string, string][]> {
  const days = (await readdir(path)).filter((name) => name.startsWith('day='))
  expect(days.length).toBeGreaterThan(2)
  const read = days.map(
    async (day): Promise<[string, string]> => [day, await readFile(join(path, day, 'part.parquet'), 'base64')],
  )
  return await Promise.all(read)
}

async function removeAll(): Promise<void> {
  await withWriter(api.stores, 'acme', (writer) => {
    const until = { clicksMs: Date.UTC(2026, 11, 1), eventsMs: Date.UTC(2026, 11, 1) }
    return removeMonths(writer, until, { audit: (sql) => sql`audited AS (SELECT FROM recorded)`, announceMs: 0 })
  })
  // Keys, and what their account retains, are cached for 4.5 s.
  api.setNow(testNowMs + 600_000)
}
