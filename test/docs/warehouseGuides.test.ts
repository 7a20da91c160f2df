// @module-tag long

import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { createTributary, type Tributary } from '../../src/packages/client/client.ts'
import { importContent } from '../import/runImport.ts'
import { forward, openApiProxy } from '../kit/apiProxy.ts'
import { useTestApp } from '../kit/app.ts'
import { openCopyTarget } from '../kit/copyTarget.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { parseTable, toolResult } from '../kit/mcp.ts'
import { conversions, clicks as sourceClicks } from '../packages/sync/source.ts'
import type { WarehouseGuide } from './warehouseGuideNames.ts'

// Each code block of these guides runs unchanged but for the key and the address of the database, and its numbers are those
// of the API.

const api = useTestApp()
const target = useOpened(() => openCopyTarget(api.stores))
const folder = useFolder()
let key: string
let baseUrl: string
let client: Tributary
let environment: Record<string, string>

const clicks = (from: number, until: number) =>
  sourceClicks(from, until).map((click, n) => {
    return { ...click, country: n % 3 ? 'DE' : 'US', ...(n % 4 === 0 && { campaignId: undefined }) }
  })

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'campaigns', [
    { id: 'spring', name: 'Spring' },
    { id: 'unknown', name: 'Autumn' },
  ])
  await importContent(api.stores, 'acme', 'clicks', clicks(0, 60))
  await importContent(api.stores, 'acme', 'conversions', conversions(0, 30, 'approved', 0))
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  client = createTributary({ baseUrl, apiKey: key })
  await mkdir(folder('bin'))
  for (const name of ['sync', 'mcp']) {
    const program = join(packageRoot, 'src/packages', name, 'dist/main.js')
    const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`
    await writeFile(folder('bin', `tributary-${name}`), script, { mode: 0o755 })
  }
  environment = { PATH: `${folder('bin')}:${process.env.PATH}`, ...target.environment }
})

/** The code blocks of a guide in a language, with the key of the account. */
async function blocksOf(guide: WarehouseGuide, language: string): Promise<string[]> {
  const { tags } = (await api.get('/docs/json')).json<{ tags: { name: string; description: string }[] }>()
  const text = tags.find(({ name }) => name === guide)?.description ?? ''
  const blocks = [...text.matchAll(/```(\w+)\n(.*?)```/gs)]
  return blocks.flatMap(([, word, code = '']) => (word === language ? [code.replaceAll('trb_live_…', key)] : []))
}

/** The installation commands of the README of a package, which `test/packages/installed.test.ts` runs. */
async function installationOf(name: string): Promise<string | undefined> {
  const readme = await readFile(join(packageRoot, 'src/packages', name, 'README.md'), 'utf8')
  return /```sh\n(.*?)```/s.exec(readme)?.[1]
}

async function run(program: string, ...words: string[]): Promise<string> {
  return (await promisify(execFile)(program, words, { cwd: folder(), env: environment })).stdout
}

const november = { from: '2026-11-01', to: '2026-11-30' } as const
const byCampaign = async () => (await client.get('/reports', { query: { group_by: 'campaign', ...november } })).data
const rowsByCampaign = async () =>
  (await byCampaign()).map(({ id, name, clicks, conversions, revenue, epc }) => [
    id,
    name,
    clicks,
    conversions,
    revenue,
    epc,
  ])
const numeric = (value: unknown) => (value === null ? null : Number(value))

it('Into PostgreSQL fills a database with the numbers of reports and stats', async () => {
  const [install, shell = ''] = await blocksOf('Into PostgreSQL', 'sh')
  expect(install).toBe(await installationOf('sync'))
  const output = await run('sh', '-ec', shell.replace('postgres://user:password@localhost:5432/warehouse', target.url))
  expect(output).toContain('Verified: 60 clicks of 2 days')
  const [report = '', daily = '', details = ''] = await blocksOf('Into PostgreSQL', 'sql')
  const rows = await target.sql.unsafe(report)
  const numbers = rows.map(({ id, name, ...metrics }) => [id, name, ...Object.values(metrics).map(numeric)])
  expect(numbers).toEqual(await rowsByCampaign())
  const days = await target.sql.unsafe(`SELECT to_char(d.day, 'YYYY-MM-DD'), d.* FROM (${daily.replace(';', '')}) AS d`)
  const series = await client.get('/stats/daily', { query: { tz: 'Europe/Berlin', ...november } })
  expect(days.map(({ to_char, day: _, ...metrics }) => [to_char, ...Object.values(metrics).map(Number)])).toEqual(
    series.data.map(({ id, clicks, conversions, revenue }) => [id, clicks, conversions, revenue]),
  )
  const found = await target.sql.unsafe(details)
  expect(new Map(found.map(({ campaign_name, clicks }) => [campaign_name, Number(clicks)]))).toEqual(
    new Map((await byCampaign()).map(({ id, name, clicks }) => [id === '(not set)' ? null : name, clicks])),
  )
})

it('Into DuckDB and Parquet fills a database and writes files with the numbers of reports', async () => {
  const shells = (await blocksOf('Into DuckDB and Parquet', 'sh')).filter((shell) => !shell.startsWith('npm install'))
  const printed: string[] = []
  for (const shell of shells) printed.push(await run('sh', '-ec', shell))
  expect(printed.find((text) => text.startsWith('day,clicks,revenue\r\n'))?.match(/\r\n/g)).toHaveLength(31)
  const [file = '', inDatabase = '', report = ''] = await blocksOf('Into DuckDB and Parquet', 'sql')
  const copy = await (await DuckDBInstance.create(folder('warehouse.duckdb'), { access_mode: 'READ_ONLY' })).connect()
  const copied = (await copy.runAndReadAll(inDatabase)).getRowsJson()
  expect(copied.map(([id, name, ...metrics]) => [id, name, ...metrics.map(numeric)])).toEqual(await rowsByCampaign())
  const database = await (await DuckDBInstance.create()).connect()
  await database.run(`SET file_search_path = '${folder()}'`)
  const query = { group_by: 'country' as const, ...november }
  expect(
    (await database.runAndReadAll(file)).getRowsJson().map(([country, clicks]) => [country, Number(clicks)]),
  ).toEqual((await client.get('/reports', { query })).data.flatMap(({ id, clicks }) => (clicks ? [[id, clicks]] : [])))
  const rows = (await database.runAndReadAll(report)).getRowsJson()
  expect(rows.map(([id, name, ...metrics]) => [id, name, ...metrics.map(Number)])).toEqual(
    (await byCampaign()).map(({ id, name, clicks, conversions, revenue, cost }) => [
      id,
      id === '(not set)' ? null : name,
      clicks,
      conversions,
      revenue,
      cost,
    ]),
  )
})

it('Into ClickHouse fills a table, and later reads only what is new', async () => {
  const [create = '', state = '', fill = '', record = '', query = ''] = await blocksOf('Into ClickHouse', 'sql')
  const program = `import { Session } from 'chdb'
    const session = new Session(${JSON.stringify(folder('clickhouse'))})
    session.query('CREATE DATABASE IF NOT EXISTS warehouse')
    session.query('USE warehouse')
    for (const statement of JSON.parse(process.argv[1])) process.stdout.write(session.query(statement, 'JSONEachRow') ?? '')`
  const runIn = async (...statements: string[]) => {
    const words = ['--input-type=module', '--eval', program, JSON.stringify(statements)]
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: packageRoot })
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  const campaigns = async () =>
    new Map((await byCampaign()).map(({ id, clicks, cost }) => [id === '(not set)' ? null : id, [clicks, cost]]))
  const found = (rows: Record<string, unknown>[]) =>
    new Map(rows.map(({ campaignId, clicks, cost }) => [campaignId, [Number(clicks), Number(cost)]]))

  expect(found(await runIn(create, state, fill, record, query))).toEqual(await campaigns())
  await importContent(api.stores, 'acme', 'clicks', clicks(60, 70))
  const count = 'SELECT count() AS rows FROM clicks'
  const after = await runIn(fill, record, count, query)
  // No row was read twice.
  expect(Number(after.shift()?.rows)).toBe(70)
  expect(found(after)).toEqual(await campaigns())
})

it('From any connector has a connector that reads no row twice, skips none and waits when it is refused', async () => {
  // The first two requests are refused.
  const refused: number[] = []
  const proxy = await openApiProxy(baseUrl, {
    answer(outgoing, response) {
      const status = [429, 503][refused.length]
      if (!status) return forward(outgoing, response)
      refused.push(status)
      response.resume()
      outgoing.writeHead(status, { 'retry-after': '0' }).end('{}')
    },
  })
  const [script = ''] = await blocksOf('From any connector', 'js')
  const connector = () => run(process.execPath, '--input-type=module', '-e', script.replaceAll(baseUrl, proxy.url))
  expect(await connector()).toBe('30 rows read\n')
  expect(await connector()).toBe('0 rows read\n')
  await importContent(api.stores, 'acme', 'conversions', conversions(3, 10, 'refunded', 1))
  expect(await connector()).toBe('7 rows read\n')
  expect(refused).toEqual([429, 503])
  await proxy.close()
})

it('With a language model has a configuration that serves the tools, and a text with the guides about the API', async () => {
  const [json = ''] = await blocksOf('With a language model', 'json')
  const { command, args, env } = JSON.parse(json).mcpServers.tributary
  const model = new Client({ name: 'test', version: '1' })
  await model.connect(new StdioClientTransport({ command, args, env: { ...environment, ...env } }))
  const tools = (await model.listTools()).tools.map(({ name }) => name)
  expect(tools).toEqual(expect.arrayContaining(['get_reports', 'get_stats', 'list_rows', 'get_funnels']))
  const given = { name: 'get_reports', arguments: { group_by: 'campaign', ...november } }
  const { texts } = toolResult(await model.callTool(given))
  expect(parseTable(texts[0]).rows).toMatchObject(
    (await byCampaign()).map(({ id, clicks }) => ({ id, clicks: `${clicks}` })),
  )
  await model.close()
  const [script = ''] = await blocksOf('With a language model', 'js')
  const sent = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: packageRoot })
  expect((await sent).stdout).toContain('"groupBy":"country"')
  const [install, shell = ''] = await blocksOf('With a language model', 'sh')
  expect(install).toBe(await installationOf('mcp'))
  const text = await run('sh', '-ec', shell)
  for (const guide of ['Keys and scopes', 'Exports', 'Errors']) expect(text).toContain(`\n- [${guide}](`)
})
