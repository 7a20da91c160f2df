// @module-tag all

import { EventEmitter, once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Sql } from 'postgres'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Dimension, dimensions, timeDimensions } from '../../../schema/dimensions.ts'
import { createTributary, type Tributary } from '../../../src/packages/client/client.ts'
import descriptions from '../../../src/packages/sync/database/descriptions.json' with { type: 'json' }
import { run } from '../../../src/packages/sync/program.ts'
import { synchronize } from '../../../src/packages/sync/runs.ts'
import { parseRow } from '../../../src/packages/sync/source/received.ts'
import { removeMonths } from '../../../src/writer/removeMonths.ts'
import { expectOneLine } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { forward, openApiProxy } from '../../kit/apiProxy.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'
import { withWriter } from '../../writer/withWriter.ts'
import { runProgram } from '../runProgram.ts'
import { describedBy } from './describedBy.ts'
import { expectEqualRows } from './expectEqualRows.ts'
import { plantedDifferences } from './planted.ts'
import {
  clickCount,
  clickDay,
  clicks,
  conversions,
  costs,
  metricsOf,
  numbersOf,
  serverEvents,
  storeSource,
  untilEventsAreListed,
} from './source.ts'

const api = useTestApp()
const target = useOpened(() => openCopyTarget(api.stores))
const folder = useFolder()
let client: Tributary
let copy: Sql
let environment: Record<string, string>
let baseUrl: string
const requests: string[] = []

beforeAll(async () => {
  const key = await api.account('acme')
  copy = target.sql
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  api.app.server.on('request', ({ url }) => requests.push(url ?? ''))
  environment = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: key, ...target.environment }
  client = createTributary({ baseUrl, apiKey: key })
  await storeSource(api.stores, client)
})

interface Synced {
  rows: Record<string, number>
  filled: object
  verified?: Record<string, { days: number; rows: number; compared: string[]; repaired: string[] }>
  /** Only of a folder. */
  written?: Record<'clicks' | 'conversions' | 'costs' | 'events', string[]>
}

/** @param place a folder, or the database @param url of the server, or of a proxy in front of it */
const wordsOf = (place: string, url = baseUrl) => [place, '--url', url, '--json']

async function syncTo(place: string, ...more: string[]): Promise<Synced> {
  const { code, stdout, stderr } = await runProgram(run, [...wordsOf(place), ...more], environment)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const sync = (...more: string[]) => syncTo(target.url, ...more)

/** Sets the state of the copy as if a minute had passed since its last row of events was stored: the next pass does not read that row again. */
const endOverlap = () => copy`
  UPDATE tributary.sync_state
  SET since = (
    SELECT to_char((max(stored_at) + interval '1 ms') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM tributary.events
  )
  WHERE resource = 'events'`

describe('tributary-sync', () => {
  it('refuses a server of version 1.1, which lacks fields, before it changes the copy', async () => {
    const proxy = await openApiProxy(baseUrl, {
      answer(outgoing, response, path) {
        if (!path.startsWith('/api/v1/schema')) return forward(outgoing, response)
        response.resume()
        const headers = { 'content-type': 'application/json' }
        outgoing.writeHead(404, headers).end('{"error":"not_found","message":"There is no such path."}')
      },
    })
    const { code, stderr } = await runProgram(run, wordsOf(folder('of-1.1'), proxy.url), environment)
    await proxy.close()
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: The server is older than 1\.2, .*upgrade the server first\.\n$/),
    ])
    expect(existsSync(folder('of-1.1', 'clicks'))).toBe(false)
  })

  it('copies every stored field of every row, and continues at the cursor of an unfinished copy in few requests', async () => {
    await untilEventsAreListed(client, 80)
    await sync()
    // As a killed process leaves it. The export is ordered from the newest row to the oldest.
    const { data, nextCursor } = await client.get('/clicks', { query: { limit: 100 } })
    await copy`DELETE FROM tributary.clicks WHERE id NOT IN ${copy(data.map(({ id }) => id))}`
    await copy`UPDATE tributary.sync_state SET next_since = since, since = NULL, cursor = ${nextCursor} WHERE resource = 'clicks'`
    requests.length = 0
    const rest = clickCount - data.length
    expect((await sync()).rows).toMatchObject({ clicks: rest, conversions: 0, costs: 0, events: 0 })
    expect(requests.length).toBeLessThan(20)
    expect(requests.filter((path) => path.includes('cursor='))).toHaveLength(1)
  })

  it('reads the digits of amounts, and every other value as JSON.parse', () => {
    const line =
      '{"value":1.2345678901234567e22,"score":0.12345678901234567,"sub1":"\\":123456789012.123456","cost":12}'
    expect(parseRow(line)).toEqual(JSON.parse(line))
    expect(parseRow(line.replace(':12}', ':-123456789012.123456}'))).toMatchObject({ cost: '-123456789012.123456' })
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
    const stored = await copy`SELECT cost::text AS cost FROM rich.costs ORDER BY id`
    expect(stored.map(({ cost }) => cost)).toEqual(amounts)
    await copy`DROP SCHEMA rich CASCADE`
  })

  it('follows late clicks, changed conversions and new events', async () => {
    await importContent(api.stores, 'acme', 'clicks', clicks(clickCount, clickCount + 50))
    const changed = [...conversions(0, 80, 'approved', 1), ...conversions(80, 120, 'refunded', 2)]
    await importContent(api.stores, 'acme', 'conversions', changed)
    await importContent(api.stores, 'acme', 'costs', costs(0, 20, 1))
    await client.sendEvents(serverEvents(30, 45))
    await untilEventsAreListed(client, 85)
    const { rows } = await sync()
    expect(rows).toMatchObject({ clicks: 50, conversions: 120, costs: 20, events: 5 })
    // Also the rows that the test above has copied.
    await expectEqualRows(client, (statement) => copy.unsafe(statement))
  })

  // In the suite, duckdb.test.ts proves it for DuckDB.
  it('--verify finds and repairs a difference in any column of the identity, the times and the amount of a row', {
    tags: 'long',
  }, async () => {
    for (const planted of plantedDifferences()) {
      for (const { statement } of planted) await copy.unsafe(statement)
      await endOverlap()
      const { verified, rows } = await sync('--verify')
      const repaired = planted.map(({ resource }) => verified?.[resource]?.repaired.length)
      expect([planted, repaired]).toEqual([planted, planted.map(() => 1)])
      expect(rows.clicks).toBeLessThan(clickCount)
    }
    await copy`
      INSERT INTO tributary.conversions (id, converted_at, is_test, stored_at)
      VALUES ('extra', '2025-01-01T10:00:00Z', false, '2025-01-01T10:00:00Z')`
    expect((await sync('--verify')).verified?.conversions?.repaired).toEqual(['2025-01-01'])
    expect((await sync('--verify')).rows).toMatchObject({ clicks: 0, conversions: 0, events: 0 })
    await expectEqualRows(client, (statement) => copy.unsafe(statement))
  })

  it('fills a column that is added to its tables for all rows, and says so', { tags: 'long' }, async () => {
    await copy`ALTER TABLE tributary.clicks DROP COLUMN referrer CASCADE, DROP COLUMN sub1 CASCADE`
    await copy`ALTER TABLE tributary.conversions DROP COLUMN status CASCADE`
    await copy`ALTER TABLE tributary.events DROP COLUMN properties CASCADE`
    await copy`ALTER TABLE tributary.campaigns DROP COLUMN tags CASCADE`
    const { filled, verified } = await sync('--verify')
    expect(filled).toEqual({
      campaigns: { columns: ['tags'] },
      clicks: { columns: ['sub1', 'referrer'].sort() },
      conversions: { columns: ['status'] },
      events: { columns: ['properties'] },
    })
    expect(verified?.clicks?.compared).toEqual(['rows', 'hash of id, clickedAt and storedAt', 'costBase'])
    await expectEqualRows(client, (statement) => copy.unsafe(statement))
    expect((await sync()).filled).toEqual({})
  })

  it('has functions that return the numbers of reports by each dimension', { tags: 'long' }, () =>
    expectReports(dimensions),
  )

  it('has functions that return the numbers of reports and of the daily series', async () => {
    // With duckdb.test.ts, each kind of column, and each that has another name than its dimension.
    const others = 'offer traffic_source landing country language referrer_domain region sub1 status'.split(' ')
    await expectReports([...timeDimensions, ...(others as Dimension[])])
    for (const tz of ['America/New_York', 'Asia/Kathmandu']) {
      const { data } = await client.get('/stats/daily', { query: { tz, days: 10 } })
      const [first, last] = [data[0]?.date ?? '', data.at(-1)?.date ?? '']
      const found = await copy.unsafe<Record<string, unknown>[]>(
        "SELECT to_char(day, 'YYYY-MM-DD') AS day, d.* FROM tributary.daily($1, $2, $3) AS d",
        [tz, first, last],
      )
      expect(found.map(({ day: _, ...metrics }) => numbersOf(metrics))).toEqual(data.map(metricsOf))
    }
    const november = { from: '2026-11-01', to: '2026-11-30' }
    const atClick = (await client.get('/stats/daily', { query: { ...november, count_at: 'click' } })).data
    const counted = await copy`
      SELECT to_char(day, 'YYYY-MM-DD') AS day, d.* FROM tributary.daily('UTC', '2026-11-01', '2026-11-30', 'click') AS d`
    expect(counted.map(({ day: _, ...metrics }) => numbersOf(metrics))).toEqual(atClick.map(metricsOf))
    expect(atClick).not.toEqual((await client.get('/stats/daily', { query: november })).data)
    const [last] = await copy`
      SELECT count(*)::int AS days, max(day) = (now() AT TIME ZONE 'Asia/Kathmandu')::date AS "isToday"
      FROM tributary.daily('Asia/Kathmandu')`
    expect(last).toEqual({ days: 30, isToday: true })
    const [details] = await copy`SELECT * FROM tributary.click_details WHERE id = 'c0'`
    const shown = await client.get('/clicks', { query: { order: 'asc', limit: 1 } })
    expect([details?.campaign_name, details?.converted, Number(details?.conversion_count)]).toEqual(
      shown.data.map(({ campaignName, converted, conversionCount }) => [campaignName, converted, conversionCount])[0],
    )
  })

  it('describes its tables and columns in the words of the API', async () => {
    const columns = await copy`
      SELECT table_name AS table, column_name AS column,
        col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position) AS comment
      FROM information_schema.columns WHERE table_schema = 'tributary'`
    const tables = await copy`
      SELECT relname AS table, obj_description(oid) AS comment FROM pg_class
      WHERE relnamespace = 'tributary'::regnamespace AND relname NOT LIKE 'sync%'`
    const isCommented = ({ comment }: { comment?: unknown }) => comment !== null
    expect(describedBy(tables.filter(isCommented), columns.filter(isCommented))).toEqual(descriptions)
  })

  it('keeps a folder of Parquet files by day, which DuckDB sums to the reports', async () => {
    const files = folder('files')
    const syncFiles = (...more: string[]) => syncTo(files, ...more)
    const first = await syncFiles()
    expect(first.written?.clicks.length).toBeGreaterThan(2)
    const database = await (await DuckDBInstance.create()).connect()
    const byCampaign = async () => {
      const found = await database.runAndReadAll(`
        SELECT coalesce(campaignId, '(not set)') AS id, sum(clicks) AS clicks, sum(costBase)::DOUBLE AS cost
        FROM (
          SELECT campaignId, 1 AS clicks, costBase
          FROM read_parquet('${files}/clicks/*/part.parquet', hive_partitioning = true) AS c
          WHERE NOT isBot AND NOT isTest
          UNION ALL
          SELECT campaignId, 0, costBase FROM read_parquet('${files}/costs/*/part.parquet'))
        GROUP BY 1 ORDER BY 2 DESC`)
      return found.getRowObjectsJson().map(({ id, clicks, cost }) => [id, Number(clicks), cost])
    }
    const report = async () => {
      const query = { group_by: 'campaign' as const, from: '2026-11-01', to: '2026-11-30' }
      return (await client.get('/reports', { query })).data.map(({ id, clicks, cost }) => [id, clicks, cost])
    }
    expect(await byCampaign()).toEqual(await report())
    const kinds = await database.runAndReadAll(`
      SELECT origin, count(*)::INT AS events FROM read_parquet('${files}/events/*/part.parquet') GROUP BY 1 ORDER BY 1`)
    expect(kinds.getRowObjectsJson()).toEqual([
      { origin: 'browser', events: 40 },
      { origin: 'server', events: 45 },
    ])
    const names = await database.runAndReadAll(`SELECT name FROM read_parquet('${files}/campaigns/part.parquet')`)
    expect(names.getRowObjectsJson()).toEqual([{ name: 'Spring, "2026"' }])

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
    expect(verified?.clicks).toMatchObject({ from: days[0], to: days[2], repaired: days })
    expect(verified?.clicks?.compared).toContain('digest of each file')
    expect(await byCampaign()).toEqual(await report())
  })

  it('explains wrong arguments with exit code 2 and failures with exit code 1, in one line', async () => {
    const [, ...rest] = wordsOf(target.url)
    const { TRIBUTARY_KEY: _, ...keyless } = environment
    const other = { ...environment, TRIBUTARY_KEY: await api.account('other') }
    const twoKeys = { ...environment, TRIBUTARY_KEY: `${environment.TRIBUTARY_KEY}\ntrb_live_second` }
    const differs = 'is a copy of account acme; the key belongs to account other.\n'
    for (const [words, env, code, line] of [
      [['mysql://x', ...rest], environment, 2, 'postgres://'],
      [[target.url, ...rest, '--schema', 'a-b'], environment, 2, 'schema'],
      [wordsOf(target.url), keyless, 2, /^error: set TRIBUTARY_KEY /],
      [wordsOf(target.url), twoKeys, 1, 'error: The API key has a line break; copy it again. (401 invalid_api_key)\n'],
      [wordsOf(target.url), other, 1, `error: the schema tributary ${differs}`],
      [wordsOf(folder('files')), other, 1, `error: ${folder('files')} ${differs}`],
    ] as const)
      expectOneLine(await runProgram(run, words, env), code, line)
    const wrong = { ...environment, TRIBUTARY_KEY: 'trb_live_wrong' }
    expectOneLine(await runProgram(run, wordsOf(target.url), wrong), 1, /invalid_api_key\)\n$/)
  })

  it('keeps rows that the source removes by age, also between the checksum and the export of a day', async () => {
    const counted = async () =>
      await copy`
      SELECT (SELECT count(*) FROM tributary.clicks)::int AS clicks, (SELECT count(*) FROM tributary.events)::int AS events`
    const files = folder('files')
    await sync('--resources', 'clicks')
    // Both copies will read a day again that differs.
    await copy`DELETE FROM tributary.clicks WHERE id = 'c1'`
    const state = join(files, 'clicks/.tributary-sync.json')
    await writeFile(state, (await readFile(state, 'utf8')).replaceAll(/"hash":"\w+"/g, `"hash":"${'0'.repeat(15)}"`))
    const before = [await counted(), await readFilesIn(join(files, 'clicks'))]

    const signals = new EventEmitter()
    let exports = 0
    const proxy = await openApiProxy(baseUrl, {
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

/** Checks that the function of the copy has the reports of the API by dimensions. */
async function expectReports(names: readonly Dimension[]): Promise<void> {
  for (const dimension of names) {
    const { data, from, to } = await client.get('/reports', {
      query: { group_by: dimension, from: '2026-11-01', to: '2026-11-30' },
    })
    const found = await copy.unsafe<Record<string, unknown>[]>('SELECT * FROM tributary.report($1, $2, $3)', [
      dimension,
      from,
      to,
    ])
    expect(found.map(({ id, name, ...metrics }) => [dimension, id, name, numbersOf(metrics)])).toEqual(
      data.map((row) => [dimension, row.id, row.name, metricsOf(row)]),
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
