// @module-tag long

import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { importContent } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { openCopyTarget } from '../kit/copyTarget.ts'
import { useOpened } from '../kit/fixtures.ts'
import { parseTable, toolResult } from '../kit/mcp.ts'
import { useEmptyProject } from './emptyProject.ts'

const api = useTestApp()
const target = useOpened(() => openCopyTarget(api.stores))
const project = useEmptyProject(['tributary-client', 'tributary-mcp', 'tributary-sync'])
const { folder, run, install } = project
let key: string
let baseUrl: string

beforeAll(async () => {
  key = await api.account('acme')
  await importContent(api.stores, 'acme', 'campaigns', [{ id: 'k1', name: 'Spring' }])
  const click = (n: number) => ({ id: `c${n}`, clickedAt: `2026-11-20T10:00:0${n}Z`, campaignId: 'k1' })
  await importContent(api.stores, 'acme', 'clicks', [0, 1, 2].map(click))
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' })
  await install(...(await project.tarballs()))
})

/** The blocks of a language in the README of an installed package, without the ones that install it. */
async function blocks(name: string, language: string): Promise<string[]> {
  const readme = await readFile(folder('node_modules', name, 'README.md'), 'utf8')
  return [...readme.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, word, code = '']) =>
    word === language && !code.includes('npm pack') ? [code] : [],
  )
}

/** Calls a tool of tributary-mcp. @param json its configuration */
async function callTool(json: string, name: string, given: Record<string, unknown>) {
  const { command, args, env } = JSON.parse(json).mcpServers.tributary
  const client = new Client({ name: 'test', version: '1' })
  const environment = { ...project.environment(), ...env }
  await client.connect(new StdioClientTransport({ command, args, env: environment, cwd: folder() }))
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain(name)
  const { content, isError } = await client.callTool({ name, arguments: given })
  await client.close()
  return toolResult({ content, isError })
}

it.each([
  ['./missing.duckdb', 'error: DuckDB is not installed; install @duckdb/node-api@1.5.6-r.1 beside tributary-sync.\n'],
  ['s3://a/b', 'error: The client of S3 is not installed; install @aws-sdk/client-s3 beside tributary-sync.\n'],
])('without optional packages tributary-sync names the one that %s needs', async (target, stderr) => {
  const missing = run('tributary-sync', [target, '--url', baseUrl], { TRIBUTARY_KEY: key })
  await expect(missing).rejects.toMatchObject({ code: 1, stderr })
})

it('tributary-sync, installed from its tarball in an empty folder runs the commands of its README, after which the queries of the README return the rows', async () => {
  await install('@duckdb/node-api@1.5.6-r.1')
  const [copies = '', statements = ''] = (await blocks('tributary-sync', 'sh')).map((shell) =>
    shell
      .replace('trb_live_…', key)
      .replace('postgres://user:password@localhost:5432/warehouse', target.url)
      .replaceAll('https://api.example.com', baseUrl)
      .replaceAll(/ --every \w+/g, ''),
  )
  expect(copies + statements).not.toContain('example.com')
  const { stdout } = await run('sh', ['-ec', copies], target.environment)
  expect(stdout.match(/^Rows stored: clicks 3, /gm)).toHaveLength(3)
  const printed = (await run('sh', ['-ec', statements])).stdout
  expect(printed).toBe('name,clicks,revenue\r\nSpring,3,0.000000\r\n[{"country":null,"clicks":3}]\n')

  const [parquet = '', inDuckdb = '', functions = ''] = await blocks('tributary-sync', 'sql')
  const database = await (await DuckDBInstance.create()).connect()
  const found = await database.runAndReadAll(parquet.replace("'warehouse/", `'${folder('warehouse')}/`))
  expect(found.getRowsJson()).toEqual([['k1', '3']])
  const copy = await (await DuckDBInstance.create(folder('warehouse.duckdb'), { access_mode: 'READ_ONLY' })).connect()
  expect((await copy.runAndReadAll(inDuckdb)).getRowObjectsJson()).toMatchObject([{ name: 'Spring', clicks: '3' }])
  copy.closeSync()
  const [report, daily] = functions.split(';\n')
  expect(await target.sql.unsafe(report ?? '')).toMatchObject([{ name: 'Spring', clicks: '3' }])
  expect(await target.sql.unsafe(daily ?? '')).toHaveLength(30)
})

it('tributary-sync, installed from its tarball in an empty folder prints every option of the README', async () => {
  const { stdout } = await run('node_modules/.bin/tributary-sync', ['--help'])
  const readme = await readFile(folder('node_modules/tributary-sync/README.md'), 'utf8')
  const named = [...readme.matchAll(/^\| `(--\w+)/gm)].map(([, option]) => option)
  const printed = [...stdout.matchAll(/^ {2}(--\w+)/gm)].map(([, option]) => option)
  expect(printed.toSorted()).toEqual(named.toSorted())
  expect(stdout).toContain('Exit codes:\n  0 success')
})

it('tributary-mcp, installed from its tarball in an empty folder runs with the configuration of its README', async () => {
  const [json = ''] = await blocks('tributary-mcp', 'json')
  const local = json.replace('https://api.example.com', baseUrl).replace('trb_live_…', key)
  const { texts } = await callTool(local, 'get_reports', { group_by: 'campaign', from: '2026-11-20' })
  expect(parseTable(texts[0]).rows).toMatchObject([{ name: 'Spring', clicks: '3' }])
})

it('tributary-client, installed from its tarball in an empty folder has less than 200 kB and one dependency', async () => {
  const tarball = (await readdir(folder())).find((name) => name.startsWith('tributary-client-')) ?? ''
  expect((await stat(folder(tarball))).size).toBeLessThan(200_000)
  const manifest = await readFile(folder('node_modules/tributary-client/package.json'), 'utf8')
  expect(Object.keys(JSON.parse(manifest).dependencies)).toEqual(['openapi-fetch'])
})

it('tributary-client, installed from its tarball in an empty folder compiles and runs in a project outside of this one, also from CommonJS', async () => {
  const program = `import { createTributary, type RowOf, TributaryError } from 'tributary-client'
      const [baseUrl = '', apiKey = ''] = process.argv.slice(2)
      const tributary = createTributary({ baseUrl, apiKey })
      const clicks: RowOf<'/clicks'>[] = []
      for await (const click of tributary.exportRows('/clicks')) clicks.push(click)
      const ids: string[] = clicks.map(({ id }) => id)
      const code = await tributary.get('/offers/{id}', { path: { id: 'x' } }).catch((error) => error instanceof TributaryError && error.code)
      console.log(JSON.stringify({ ids, code }))`
  await writeFile(folder('main.ts'), `declare const process: { argv: string[] }\n${program}`)
  await writeFile(
    folder('common.cts'),
    `import { TributaryError } from 'tributary-client'\nconsole.log(TributaryError.name)`,
  )
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: [] }
  await writeFile(folder('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts', 'common.cts'] }))
  await run(process.execPath, [join(packageRoot, 'node_modules/typescript/bin/tsc')])
  const { stdout } = await run(process.execPath, ['main.js', baseUrl, key])
  expect(JSON.parse(stdout)).toEqual({ ids: ['c2', 'c1', 'c0'], code: 'not_found' })
  expect((await run(process.execPath, ['common.cjs'])).stdout).toBe('TributaryError\n')
})
