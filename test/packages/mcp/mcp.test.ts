// @module-tag all

import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import type { Query, Reply } from '../../../src/packages/mcp/query.ts'
import { run as runSync } from '../../../src/packages/sync/program.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { useFolder } from '../../kit/fixtures.ts'
import { operations } from '../../kit/operations.ts'
import { storeClicks, storeMetadata } from '../../kit/rows.ts'
import { runProgram } from '../runProgram.ts'
import { queryDuckdb } from '../sync/queryDuckdb.ts'

const dist = join(packageRoot, 'src/packages/mcp/dist')
const program = join(dist, 'main.js')
// Built, because it starts a process of the package.
const { queryCopy }: typeof import('../../../src/packages/mcp/query.ts') = await import(join(dist, 'query.js'))
const { openServer }: typeof import('../../../src/packages/mcp/server.ts') = await import(join(dist, 'server.js'))
const { run }: typeof import('../../../src/packages/mcp/program.ts') = await import(join(dist, 'program.js'))

const api = useTestApp()
const folder = useFolder()
let baseUrl: string
/** Of an account with long rows. */
let longKey: string
let model: Client
const clickIds = Array.from({ length: 30 }, (_, n) => `c${String(n).padStart(2, '0')}`)

beforeAll(async () => {
  const key = await api.account('acme')
  longKey = await api.account('long')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1', name: 'Spring' }])
  const clicks = clickIds.map((id, n) => ({
    id,
    clicked_at: `2026-11-20 10:00:${String(n).padStart(2, '0')}.000`,
    campaign_id: 'k1',
    country: n % 2 ? 'DE' : 'US',
    utm_term: ['17', '17', 'a, b', '!x'][n] ?? '',
  }))
  await storeClicks(api.stores, 'acme', clicks)
  const referrer = `https://example.com/${'x'.repeat(4_000)}`
  const longClicks = clicks.map((click) => ({ ...click, referrer }))
  await storeClicks(api.stores, 'long', longClicks)
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  // As a program that runs a model starts the server.
  model = new Client({ name: 'test', version: '1' })
  const args = [program, '--url', baseUrl, '--copy', folder('copy.duckdb')]
  const env = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: key }
  await model.connect(new StdioClientTransport({ command: process.execPath, args, env }))
})
afterAll(() => model?.close())

const connect = (apiKey: string, url = baseUrl) => connectTo({ api: { baseUrl: url, apiKey }, copy: undefined })

async function connectTo(sources: Parameters<typeof openServer>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair()
  await Promise.all([client.connect(ofClient), openServer(sources).connect(ofServer)])
  return client
}

async function call(
  client: Client,
  name: string,
  given: object = {},
): Promise<{ isError: boolean; text: string; hint: string | undefined }> {
  const result = await client.callTool({ name, arguments: { ...given } })
  const [text = '', hint] = (result.content as { text: string }[]).map((part) => part.text)
  return { isError: result.isError === true, text, hint }
}

/** Reads all clicks by the hints of the results. @returns the ids, and the rows of each result */
async function readClicks(client: Client, given: object): Promise<{ ids: string[]; sizes: number[] }> {
  const ids: string[] = []
  const sizes: number[] = []
  let cursor: string | undefined
  do {
    const { text, hint } = await call(client, 'get_clicks', { ...given, ...(cursor && { cursor }) })
    const { data, nextCursor } = JSON.parse(text) as { data: { id: string }[]; nextCursor: string | null }
    ids.push(...data.map(({ id }) => id))
    sizes.push(data.length)
    expect(hint ?? '').toBe(
      nextCursor ? `More rows follow: call get_clicks again with the same arguments and cursor "${nextCursor}".` : '',
    )
    cursor = nextCursor ?? undefined
  } while (cursor)
  return { ids, sizes }
}

describe('the tools', () => {
  it('are the read operations of the API, with the parameters of the OpenAPI document', async () => {
    const listed = await model.listTools()
    expect(JSON.stringify(listed).length).toBeLessThanOrEqual(12_288)
    const tools = listed.tools.filter(({ name }) => name !== 'query')
    const reads = operations.filter(({ method, path }) => method === 'GET' && !path.startsWith('/checksums/'))
    expect(tools).toHaveLength(reads.length)
    const someNames = ['get_reports', 'get_stats_daily', 'get_clicks', 'get_campaigns_search', 'get_events', 'get_key']
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(someNames))
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const { name, title, description, inputSchema, annotations } of tools) {
      expect([name, ajv.validateSchema(inputSchema), annotations?.readOnlyHint]).toEqual([name, true, true])
      expect([name, title !== '' && description !== '']).toEqual([name, true])
      expect(Object.keys(inputSchema.properties ?? {})).not.toContain('format')
    }
    expect(tools.every(({ description }) => description && !description.includes('\n'))).toBe(true)
    const report = tools.find(({ name }) => name === 'get_reports')?.inputSchema
    expect(report?.required).toContain('group_by')
    expect(Object.keys(report?.properties ?? {})).toEqual(
      expect.arrayContaining(['group_by', 'from', 'to', 'tz', 'range', 'count_at', 'sort', 'filters']),
    )
  })

  it('take conditions in filters, as an array and as JSON', async () => {
    const report = { group_by: ['country'], range: 'this_week', metrics: ['clicks', 'cpc'], sort: '-change.clicks' }
    const asked = { ...report, compare: 'previous_period', count_at: 'click' }
    const conditions = [
      ['not', ['contains', 'country', ['us']]],
      ['>=', 'clicks', 0.5],
    ]
    for (const filters of [conditions, JSON.stringify(conditions)]) {
      const { text, isError } = await call(model, 'get_reports', { ...asked, filters })
      expect([text, isError]).toEqual([expect.any(String), false])
      expect(JSON.parse(text)).toMatchObject({
        countAt: 'click',
        data: [{ id: 'DE', clicks: 15, previous: { clicks: 0 } }],
      })
    }
  })

  it('return 20 rows by default, and a cursor that leads to each row once', async () => {
    expect(await readClicks(model, {})).toEqual({ ids: clickIds.toReversed(), sizes: [20, 10] })
  })

  it('return fewer rows when these are long, and still each row once', async () => {
    const client = await connect(longKey)
    const { ids, sizes } = await readClicks(client, { limit: 100 })
    expect(ids).toEqual(clickIds.toReversed())
    expect(Math.max(...sizes)).toBeLessThan(15)
    await client.close()
  })

  it('say how many rows a report has, and with which arguments the next ones are in its ranges', async () => {
    const given = { group_by: 'country,device', days: 2, compare: 'previous_period', limit: 1 }
    const { hint } = await call(model, 'get_reports', given)
    const next = JSON.parse(/^1 of 2 rows: .*call get_reports with ({.*}), /.exec(hint ?? '')?.[1] ?? '')
    expect(next).toEqual({
      group_by: ['country', 'device'],
      from: '2026-11-20T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      limit: 1,
      offset: 1,
      compare: 'previous_period',
      previous_until: '2026-11-19T15:00:00.000Z',
    })
    const last = await call(model, 'get_reports', next)
    expect([JSON.parse(last.text).data.length, last.hint]).toEqual([1, undefined])
  })
})

describe('an error', () => {
  it('of the API has its code, message, parameter and request id', async () => {
    const { isError, text } = await call(model, 'get_reports', { group_by: 'colour' })
    expect(isError).toBe(true)
    expect(text).toMatch(/^invalid_\w+: .*group_by.* \(parameter group_by, request id [\w-]+\)$/s)
  })

  it('names unknown arguments, limits that are too large and unknown tools', async () => {
    const unknown = await call(model, 'get_clicks', { format: 'csv' })
    expect(unknown.text).toMatch(/^unknown argument: format\. Arguments: limit, /)
    expect((await call(model, 'get_clicks', { limit: 101 })).text).toMatch(/^limit may be 100 at most; /)
    await expect(call(model, 'post_events', { event_name: 'paid' })).rejects.toThrow('unknown tool: post_events')
  })

  it('names a number that may have lost digits, and takes other numbers and arrays as literal values', async () => {
    const report = { group_by: 'campaign', from: '2026-11-20', metrics: 'clicks' }
    for (const [name, tool, given] of [
      ['campaign_id', 'get_reports', { ...report, campaign_id: 120_210_000_000_000_000 }],
      ['campaign_id', 'get_reports', { ...report, campaign_id: ['k1', 9_007_199_254_740_992] }],
      ['sub1', 'get_clicks', { sub1: 1.1 }],
      ['id', 'get_campaigns_by_id', { id: 1e21 }],
    ] as const) {
      const text = `${name} must be text in quotes: the number may have lost digits.`
      expect(await call(model, tool, given)).toMatchObject({ isError: true, text })
    }
    const clicksOf = async (utm: unknown) =>
      JSON.parse((await call(model, 'get_reports', { ...report, utm_term: utm })).text).totals.clicks
    expect([await clicksOf(17), await clicksOf(['a, b', '17']), await clicksOf(['!x'])]).toEqual([2, 3, 1])
  })

  it('names an address at which there is no API, and a key that is wrong', async () => {
    const lost = await connect('trb_live_x', 'http://127.0.0.1:1')
    await expect(lost.listTools()).rejects.toThrow('http://127.0.0.1:1/api/v1/docs/json is not reachable: ')
    await lost.close()
    const misled = await connect('trb_live_x', `${baseUrl}/elsewhere`)
    await expect(misled.listTools()).rejects.toThrow('is not the OpenAPI document of Tributary (status 404)')
    await misled.close()
    const unknown = await connect('trb_live_x')
    expect((await call(unknown, 'get_key')).text).toMatch(/^invalid_api_key: /)
    await unknown.close()
  })
})

describe('the tool for SQL on a copy', () => {
  /** The process in which the server executes one statement; here it executes many. */
  let child: ChildProcess
  beforeAll(async () => {
    const copiedKey = await api.account('copied')
    await importContent(api.stores, 'copied', 'campaigns', [{ id: 'k1', name: 'Spring' }])
    const clicks = clickIds.map((id, n) => ({
      id,
      campaignId: 'k1',
      clickedAt: new Date(Date.UTC(2026, 10, 20, 10, 0, n)),
    }))
    await importContent(api.stores, 'copied', 'clicks', clicks)
    const copied = await runProgram(runSync, [folder('copy.duckdb'), '--url', baseUrl], { TRIBUTARY_KEY: copiedKey })
    expect(copied.code).toBe(0)
    await writeFile(folder('secret.csv'), 'secret')
    child = fork(join(dist, 'queryProcess.js'), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  })
  afterAll(() => void child?.kill('SIGKILL'))
  const query = (sql: string, more: object = {}) => call(model, 'query', { sql, ...more })

  async function replyTo(sql: string, more: Partial<Query> = {}): Promise<Reply> {
    child.send({ file: folder('copy.duckdb'), sql, limit: 100, temporary: folder('temporary'), ...more })
    const [reply] = (await once(child, 'message')) as [Reply]
    return reply
  }

  it('is the only one without an API, and returns rows of the copy', async () => {
    const alone = await connectTo({ api: undefined, copy: folder('absent.duckdb') })
    expect((await alone.listTools()).tools.map(({ name }) => name)).toEqual(['query'])
    expect(await call(alone, 'query', { sql: 'SELECT 1' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('absent.duckdb'),
    })
    await alone.close()
    const { text, hint } = await query(
      `SELECT name, clicks FROM report('campaign', '2026-11-01', '2026-12-01') UNION ALL SELECT '\ufeff' || max(clicked_at), 1 FROM clicks`,
    )
    expect(JSON.parse(text)).toEqual({
      asOf: expect.stringMatching(/Z$/),
      columns: ['name', 'clicks'],
      rows: [
        ['Spring', '30'],
        ['\ufeff2026-11-20 10:00:29+00', '1'],
      ],
    })
    expect(hint).toBeUndefined()
  })

  it('bounds rows and characters', async () => {
    const { text, hint } = await query('SELECT * FROM range(5000)')
    expect([JSON.parse(text).rows.length, hint]).toEqual([
      100,
      expect.stringMatching(/^These are the first 100 rows\. /),
    ])
    expect((await query('SELECT 1', { limit: 1_001 })).text).toBe('limit must be 1 to 1000; aggregate the rows.')
    for (const [sql, limit, length] of [
      ['SELECT * FROM range(5000)', 1_000, 1_000],
      ["SELECT repeat('x', 9000) FROM range(50)", 100, 5],
    ] as const)
      expect(await replyTo(sql, { limit })).toMatchObject({ rows: { length }, isComplete: false })
    expect((await query("SELECT repeat('x', 60000)")).text).toMatch(/^A row is too long; /)
  })

  for (const [name, sql, timeMs, text] of [
    [
      'ends a query that never ends, and leaves neither a process nor a file',
      'SELECT sum(outer_rows.range * inner_rows.range % 7) FROM range(1000000) AS outer_rows, range(1000000) AS inner_rows',
      500,
      /^The query took longer than 0.5 s; select a shorter range\.$/,
    ],
    // On a busy machine, memory fills in more than 20 s.
    [
      'ends a query that takes all memory',
      'SELECT range(300000000)',
      240_000,
      /^The query needs more than 1 GB of memory; aggr/,
    ],
  ] as const)
    it(name, async () => {
      const { signal } = new AbortController()
      const { content } = await queryCopy(folder('copy.duckdb'), { sql }, signal, timeMs)
      expect(content).toEqual([{ type: 'text', text: expect.stringMatching(text) }])
      expect(await replyTo('SELECT count(*) FROM clicks')).toMatchObject({ rows: ['["30"]'] })
      expect(await readdir(folder())).toEqual(['copy.duckdb', 'secret.csv'])
    })

  it('writes nothing, reaches no other file or extension, and cannot change that', async () => {
    for (const sql of [
      `FROM '${folder('secret.csv')}'`,
      `FROM read_text('${folder('secret.csv')}')`,
      "FROM 'https://example.com/x.parquet'",
      `COPY clicks TO '${folder('copy.duckdb.wal')}' (FORMAT csv)`,
      `EXPLAIN ANALYZE COPY clicks TO '${folder('copy.duckdb.tmp/out.csv')}'`,
      'DELETE FROM clicks',
      'SET enable_external_access = true',
      'SELECT 1; DELETE FROM clicks',
      'SELEC 1',
      '',
      'SELECT colour FROM clicks',
      // Statements of other kinds that a connection for reading executes.
      'CREATE TEMP TABLE t AS SELECT 1',
      'EXPLAIN SELECT 1',
      'CALL enable_logging()',
      // Files of DuckDB itself, to which it has access.
      `FROM enable_logging('QueryLog', storage = 'file', storage_path = '${folder('copy.duckdb.tmp')}')`,
      `SELECT (SELECT count(*) FROM enable_logging('QueryLog', storage = 'file', storage_path = '${folder()}'))`,
      `FROM query('FROM enable_' || 'logging(''QueryLog'')')`,
      "FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging()'))",
      'FROM force_checkpoint()',
      `FROM read_text('${folder('copy.duckdb')}')`,
    ])
      expect([sql, await replyTo(sql)]).toEqual([sql, { error: expect.any(String) }])
    expect(await readdir(folder())).toEqual(['copy.duckdb', 'secret.csv'])
    expect(await replyTo('SELECT count(*) FROM clicks')).toMatchObject({ rows: ['["30"]'] })
  })

  it('executes a SELECT in every form', async () => {
    for (const sql of [
      'DESCRIBE clicks',
      'SUMMARIZE clicks; -- all',
      'FROM query($$SELECT 1$$)',
      `SELECT '"Function": "READ_TEXT"' AS text, unnest([1]) FROM generate_series(1, 2), duckdb_tables()`,
      `FROM events, json_each('{"a": 1}')`,
      "FROM daily('Europe/Berlin', '2026-11-01', '2026-11-30')",
      'SELECT * FROM unnest([1, 2])',
    ])
      expect([sql, await replyTo(sql)]).toEqual([sql, expect.objectContaining({ isComplete: true })])
  })

  it('says that a copy is not complete, and leaves it to other programs between queries', async () => {
    const [state] = await queryDuckdb(
      folder('copy.duckdb'),
      `UPDATE tributary.sync_state SET since = NULL WHERE resource = 'clicks';
       SELECT min(since) AS since FROM tributary.sync_state`,
    )
    expect([state?.since, await replyTo('SELECT 1')]).toEqual([
      expect.stringMatching(/Z$/),
      expect.objectContaining({ asOf: null }),
    ])
  })
})

it('the command explains wrong arguments with exit code 2, and ends when its client does', async () => {
  const url = ['--url', baseUrl]
  for (const [words, TRIBUTARY_KEY, expected] of [
    [['--help'], 'x', { code: 0, stdout: expect.stringContaining('Usage: tributary-mcp') }],
    [[], 'x', { code: 2, stderr: expect.stringContaining("'--url <url>' or '--copy <file>'") }],
    [['--url', 'example'], 'x', { code: 2, stderr: expect.stringMatching(/Use an address such as https:/) }],
    [url, '', { code: 2, stderr: 'error: set TRIBUTARY_KEY to an API key.\n' }],
    [url, 'a\nb', { code: 2, stderr: 'error: TRIBUTARY_KEY: The API key has a line break; copy it again.\n' }],
  ] as const)
    expect(await runProgram(run, words, { TRIBUTARY_KEY })).toMatchObject(expected)
  const env = { PATH: process.env.PATH, TRIBUTARY_KEY: 'x' }
  const ended = spawnSync(process.execPath, [program, ...url], { env, input: '', encoding: 'utf8' })
  expect(ended).toMatchObject({ status: 0, stdout: '', stderr: '' })
})
