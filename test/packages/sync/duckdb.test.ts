// @module-tag all

import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { createTributary, type Tributary } from '../../../src/packages/client/client.ts'
import descriptions from '../../../src/packages/sync/database/descriptions.json' with { type: 'json' }
import { run } from '../../../src/packages/sync/program.ts'
import { expectOneLine } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { forward, openApiProxy } from '../../kit/apiProxy.ts'
import { useTestApp } from '../../kit/app.ts'
import { useFolder } from '../../kit/fixtures.ts'
import { runProgram } from '../runProgram.ts'
import { describedBy } from './describedBy.ts'
import { expectEqualRows } from './expectEqualRows.ts'
import { plantedDifferences } from './planted.ts'
import { queryDuckdb, withDuckdb } from './queryDuckdb.ts'
import {
  clickCount,
  clickDay,
  clicks,
  conversionCount,
  conversions,
  firstMs,
  metricsOf,
  numbersOf,
  serverEvents,
  storeSource,
  untilEventsAreListed,
} from './source.ts'

const api = useTestApp()
const folder = useFolder()
const file = () => folder('copy.duckdb')
let client: Tributary
let environment: Record<string, string>
let baseUrl: string
let requests = 0

beforeAll(async () => {
  const key = await api.account('acme')
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  api.app.server.on('request', () => {
    requests += 1
  })
  environment = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: key }
  client = createTributary({ baseUrl, apiKey: key })
  await storeSource(api.stores, client)
})

interface Synced {
  rows: Record<string, number>
  filled: object
  verified?: Record<string, { repaired: string[] }>
}

async function sync(...more: string[]): Promise<Synced> {
  const { code, stdout, stderr } = await runProgram(run, [file(), '--url', baseUrl, '--json', ...more], environment)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const execute = (statements: string) => queryDuckdb(file(), statements)
const expectEqual = () => withDuckdb(file(), (query) => expectEqualRows(client, query))

/** Kills the program when it has received half of an export of a resource. */
async function killDuring(resource: string, ...more: string[]): Promise<void> {
  const signals = new EventEmitter()
  const proxy = await openApiProxy(baseUrl, {
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
  const program = join(packageRoot, 'src/packages/sync/dist/main.js')
  const child = spawn(process.execPath, [program, file(), '--url', proxy.url, ...more], {
    env: environment,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await stalled
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  await proxy.close()
}

describe('tributary-sync into DuckDB', () => {
  it('copies every stored field of every row, and continues wherever it is killed', async () => {
    await untilEventsAreListed(client, 80)
    await killDuring('conversions')
    const words = [file(), '--no-sync', '--sql', 'SELECT count(*) AS conversions FROM conversions', '--format', 'csv']
    const { stdout, stderr } = await runProgram(run, words, environment)
    expect([stdout, stderr]).toEqual(['conversions\r\n0\r\n', '1 row as of an unfinished copy\n'])
    expect((await sync()).rows).toMatchObject({ clicks: 0, conversions: conversionCount, events: 80 })
    expect((await readdir(folder())).filter((name) => !name.startsWith('copy.duckdb'))).toEqual([])
  })

  it('follows late clicks, changed and moved conversions, new events, and metadata with another value, a row more or less, in few requests, and fills an added column', async () => {
    await execute(`
      UPDATE tributary.campaigns SET tags = ['a', 'other'];
      INSERT INTO tributary.offers FROM tributary.offers;
      DELETE FROM tributary.traffic_sources;
      DROP VIEW tributary.cost_details;
      ALTER TABLE tributary.costs DROP COLUMN country`)
    await importContent(api.stores, 'acme', 'clicks', clicks(clickCount, clickCount + 50))
    const moved = conversions(80, 120, 'refunded', 2).map((one) => ({ ...one, convertedAt: '2026-11-17T10:00:00Z' }))
    await importContent(api.stores, 'acme', 'conversions', [...conversions(0, 80, 'approved', 1), ...moved])
    await client.sendEvents(serverEvents(30, 45))
    await untilEventsAreListed(client, 85)
    const changed = { clicks: 50, conversions: 120, events: 5, campaigns: 1, offers: 1, traffic_sources: 1 }
    requests = 0
    const { rows, filled } = await sync()
    expect([rows, filled]).toEqual([{ ...changed, costs: 60, landing_pages: 0 }, { costs: { columns: ['country'] } }])
    expect(requests).toBeLessThan(20)
    await expectEqual()
  })

  it('--verify finds a missing, an extra and an old row, another amount, and reads only their days', async () => {
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
    const { verified, rows, filled } = await sync('--verify')
    expect(filled).toEqual({ campaigns: { columns: ['tags'] } })
    expect(rows).toMatchObject({ costs: 0, offers: 0, landing_pages: 0, traffic_sources: 0 })
    expect(verified).toMatchObject({
      clicks: { repaired: [clickDay(10), clickDay(120)] },
      conversions: { repaired: ['2025-01-01', day(200, 700_000)] },
      events: { repaired: [day(0, 3_000_000)] },
    })
    expect(rows.clicks).toBeLessThan(clickCount)
    await expectEqual()
  })

  it('--verify finds and repairs a difference in any column of the identity, the times and the amount of a row', {
    tags: 'long',
  }, async () => {
    for (const planted of plantedDifferences()) {
      await execute(planted.map(({ statement }) => statement).join(';'))
      await execute("UPDATE tributary.sync_state SET since = '2027-01-01T00:00:00Z' WHERE resource = 'events'")
      const { verified } = await sync('--verify')
      const repaired = planted.map(({ resource }) => verified?.[resource]?.repaired.length)
      expect([planted, repaired]).toEqual([planted, planted.map(() => 1)])
    }
    await expectEqual()
  })

  it('has functions that return the numbers of reports and of the daily series', () =>
    withDuckdb(file(), async (query) => {
      const november = { from: '2026-11-01', to: '2026-11-30' }
      // sync.test.ts has most dimensions: but for times, both databases have the same SQL for them.
      const times = ['day', 'hour', 'week', 'month', 'hour_of_day', 'weekday'] as const
      for (const dimension of ['campaign', 'sub1', ...times] as const) {
        const { data, from, to } = await client.get('/reports', { query: { group_by: dimension, ...november } })
        const found = await query(`SELECT * FROM tributary.report('${dimension}', '${from}', '${to}')`)
        expect(found.map(({ id, name, ...metrics }) => [dimension, id, name, numbersOf(metrics)])).toEqual(
          data.map((row) => [dimension, row.id, row.name, metricsOf(row)]),
        )
      }
      for (const tz of ['America/Havana', 'Asia/Kathmandu', 'Australia/Lord_Howe']) {
        const { data } = await client.get('/stats/daily', { query: { tz, ...november } })
        const found = await query(`
          SELECT strftime(day, '%Y-%m-%d') AS id, d.* EXCLUDE (day)
          FROM tributary.daily('${tz}', '2026-11-01', '2026-11-30') AS d`)
        expect(found.map(({ id, ...metrics }) => [id, numbersOf(metrics)])).toEqual(
          data.map((row) => [row.id, metricsOf(row)]),
        )
      }
      for (const dimension of ['campaign', 'day'] as const) {
        const counted = { group_by: dimension, ...november, count_at: 'click' } as const
        const { data, from, to } = await client.get('/reports', { query: counted })
        const found = await query(`SELECT * FROM tributary.report('${dimension}', '${from}', '${to}', 'click')`)
        expect(found.map(({ id, name: _, ...metrics }) => [id, numbersOf(metrics)])).toEqual(
          data.map((row) => [row.id, metricsOf(row)]),
        )
      }
      await expect(query(`FROM tributary.daily('UTC', NULL, NULL, 'now')`)).rejects.toThrow('Unknown count_at now')
      expect(await query(`SELECT count(*)::int AS days FROM tributary.daily('Asia/Kathmandu')`)).toEqual([{ days: 30 }])
      await expect(query(`FROM tributary.report('colour', '2026-11-01', '2026-12-01')`)).rejects.toThrow(
        'Unknown dimension colour; use one of campaign, offer, ',
      )
    }))

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

  it('has the details views of PostgreSQL', async () => {
    const [details] = await execute(`SELECT * FROM tributary.click_details WHERE id = 'c0'`)
    const { data } = await client.get('/clicks', { query: { order: 'asc', limit: 1 } })
    expect([details?.campaign_name, details?.converted, Number(details?.conversion_count)]).toEqual(
      data.map(({ campaignName, converted, conversionCount }) => [campaignName, converted, conversionCount])[0],
    )
    expect(await execute(`SELECT name FROM tributary.countries WHERE id = 'DE'`)).toEqual([{ name: 'Germany' }])
    const [event] = await execute(`
      SELECT (properties ->> '7')::boolean AS flag, campaign_name FROM tributary.event_details WHERE id = 'e1' AND origin = 'server'`)
    expect(event).toEqual({ flag: false, campaign_name: 'Spring, "2026"' })
  })

  it('describes its tables and columns in the words of the API', async () => {
    const columns = await execute(`
      SELECT table_name AS table, column_name AS column, comment FROM duckdb_columns()
      WHERE schema_name = 'tributary' AND comment IS NOT NULL`)
    const tables = await execute(`
      SELECT table_name AS table, comment FROM duckdb_tables() WHERE table_name NOT LIKE 'sync%' AND comment IS NOT NULL`)
    expect(describedBy(tables, columns)).toEqual(descriptions)
  })

  it('can be read by DuckDB 1.3', async () => {
    const found = await execute(`SELECT tags['storage_version'] AS version FROM duckdb_databases() WHERE NOT internal`)
    expect(found).toEqual([{ version: 'v1.3.0+' }])
  })

  it('explains in one line that another process uses the file, that it is no database or of another account', async () => {
    const words = (target: string) => [target, '--url', baseUrl]
    const open = `const { DuckDBInstance } = await import('@duckdb/node-api')
      globalThis.opened = await (await DuckDBInstance.create(process.argv[1])).connect()
      console.log('open')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', open, file()], { cwd: packageRoot })
    await once(child.stdout, 'data')
    expectOneLine(
      await runProgram(run, words(file()), environment),
      1,
      `${file()} cannot be opened: IO Error: Could not set lock`,
    )
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await writeFile(folder('text.duckdb'), 'text')
    expectOneLine(await runProgram(run, words(folder('text.duckdb')), environment), 1, 'text.duckdb cannot be opened: ')
    expectOneLine(
      await runProgram(run, words(folder('tributary.duckdb')), environment),
      1,
      'must not be named like the schema',
    )
    const other = { ...environment, TRIBUTARY_KEY: await api.account('other') }
    expectOneLine(
      await runProgram(run, words(file()), other),
      1,
      'is a copy of account acme; the key belongs to account other.',
    )
  })
})
