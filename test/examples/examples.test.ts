import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { packageRoot } from '../../src/package.ts'
import { createTributary, type Tributary } from '../../src/packages/client/client.ts'
import { start } from '../cli/runCommand.ts'
import { type HoldingProxy, openHoldingProxy } from '../faults/crashes/holdingProxy.ts'
import { importContent } from '../import/runImport.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'

// Runs the scripts of docs/examples unchanged against a server in a separate process.

let stores: TestStores
let server: ChildProcessWithoutNullStreams
let tributary: Tributary
/** The server as the clients reach it, at one address across its restarts. */
let proxy: HoldingProxy
const address = { host: '127.0.0.1', port: 0 }
/** Environment of the scripts. */
let environment: Record<string, string>
let folder: string

beforeAll(async () => {
  stores = await openTestStores()
  await createAccount(stores.postgres, { id: 'acme', name: 'Acme', plan: 'scale', currency: 'USD' })
  const created = await createKey(stores.postgres, { accountId: 'acme', name: 'x', scopes, expiresAt: null })
  if (!created) throw new Error('no key')
  folder = await mkdtemp(join(tmpdir(), 'tributary-examples-'))
  proxy = await openHoldingProxy(address)
  const baseUrl = `http://127.0.0.1:${proxy.port}`
  environment = {
    PATH: process.env.PATH ?? '',
    TRIBUTARY_URL: baseUrl,
    TRIBUTARY_KEY: created.key,
    ...(await copyDatabase()),
  }
  tributary = createTributary({ baseUrl, apiKey: created.key })
  await importContent(stores, 'acme', 'campaigns', [{ id: 'spring', name: 'Spring' }])
  await importContent(stores, 'acme', 'clicks', clicks(0, 2_500))
  await importContent(stores, 'acme', 'conversions', conversions(0, 250, 'pending'))
  await serve()
})
afterAll(async () => {
  server?.kill('SIGKILL')
  await proxy?.close()
  await stores?.close()
  await rm(folder, { recursive: true, force: true })
})

const firstMs = Date.UTC(2026, 10, 20)
const clicks = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, n) => ({
    id: `c${from + n}`,
    // Later clicks have earlier times: a client that reads by `clickedAt` alone misses them.
    clickedAt: new Date(firstMs - (from + n) * 1_000).toISOString(),
    campaignId: n % 3 === 0 ? 'spring' : 'autumn',
    country: n % 2 === 0 ? 'DE' : 'US',
    cost: 0.25,
  }))
const conversions = (from: number, until: number, status: string) =>
  Array.from({ length: until - from }, (_, n) => ({
    id: `v${from + n}`,
    source: 'cpa',
    clickId: `c${from + n}`,
    convertedAt: new Date(firstMs - (from + n) * 500).toISOString(),
    updatedAt: new Date(firstMs + rounds[status as keyof typeof rounds]).toISOString(),
    status,
    revenue: 1.5,
    // The last update marks some as tests.
    isTest: status === 'refunded' && (from + n) % 10 === 0,
  }))
const rounds = { pending: 0, hold: 1, approved: 2, refunded: 3 }

describe('docs/examples', () => {
  it('pull.mjs prints the clicks that converted', async () => {
    const { stdout } = await runScript('pull.mjs')
    expect(stdout.trim().split('\n')).toHaveLength(250)
  })

  it('drilldown.mjs prints campaigns by country, a day against the day before', async () => {
    // Of 2,500 clicks, one second apart, the first is at midnight; of 250 pending conversions too.
    const table = async (day: string) => {
      const { stdout } = await runScript('drilldown.mjs', 'UTC', day)
      const [title, ...lines] = stdout.trimEnd().split('\n')
      expect(title).toMatch(new RegExp(`^${day} against .*, UTC, USD$`))
      expect(new Set(lines.map(({ length }) => length)).size).toBe(1)
      return lines.map((line) => line.split(/ {2,}/))
    }
    const head = ['Campaign', 'Country', 'Clicks', 'Conv.', 'Cost', 'Revenue', 'Profit', 'before', 'ROI', 'EPC']
    const none = { conversions: ['0', '–'], epc: '0.000' }
    expect(await table('2026-11-20')).toEqual([
      head,
      ['Spring', 'DE', '1', '-100%', ...none.conversions, '0.25', '0.00', '-0.25', '-104.00', '-100.0%', none.epc],
      ['Total of 1', '1', '-100%', ...none.conversions, '0.25', '0.00', '-0.25', '-624.75', '-100.0%', none.epc],
    ])
    const days = await table('2026-11-19')
    expect(days.map(([campaign, country, clicks, change]) => [campaign, country, clicks, change])).toEqual([
      ['Campaign', 'Country', 'Clicks', 'Conv.'],
      ['autumn', 'DE', '833', '–'],
      ['autumn', 'US', '833', '–'],
      ['Spring', 'US', '417', '–'],
      ['Spring', 'DE', '416', '–'],
      ['Total of 4', '2,499', '–', '0'],
    ])
  })

  it('duckdb.sh has the same counts as the report', async () => {
    const { stdout } = await runScript('duckdb.sh', '2026-11-01')
    const counted = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const { data } = await tributary.get('/reports', {
      query: { group_by: 'campaign', from: '2026-11-01', to: '2026-11-21' },
    })
    expect(counted).toEqual(
      data.map(({ id, clicks, conversions }) => ({
        campaignId: id,
        campaign: id === 'spring' ? 'Spring' : null,
        clicks,
        conversions,
      })),
    )
    await expect(runScript('duckdb.sh', 'yesterday')).rejects.toThrow('invalid_from')
  })

  it('tributary-sync has the same rows as the source after late rows, changes and kills of it and of the server', {
    timeout: 120_000,
  }, async () => {
    const sync = startSync()
    for (const [round, status] of Object.keys(rounds).entries()) {
      const first = 2_500 + round * 100
      await importContent(stores, 'acme', 'clicks', clicks(first, first + 100))
      // Each kill interrupts a pass: the program has sent a request and received no response.
      await proxy.hold({ request: rowsRequest, holds: 'response' })
      server.kill('SIGKILL')
      proxy.release()
      await importContent(stores, 'acme', 'conversions', conversions(0, 100 + 50 * round, status))
      await serve()
      if (round % 2 > 0) continue
      await proxy.hold({ request: rowsRequest, holds: 'response' })
      sync.kill()
      proxy.release()
    }
    await sync.end()
    await promisify(execFile)(process.execPath, [syncProgram, ...syncArguments()], { env: environment })
    const database = postgres(environment.COPY_URL ?? '', { ...copySocket, max: 1 })
    for (const resource of ['clicks', 'conversions'] as const) {
      const copied = await database`SELECT id, stored_at FROM ${database('tributary')}.${database(resource)}`
      const storedAt = new Map(copied.map(({ id, stored_at }) => [id, stored_at.toISOString()]))
      const query = { limit: 200, ...(resource === 'conversions' && { include_test_mode: true }) }
      let seen = 0
      for await (const row of tributary.rows(`/${resource}`, { query })) {
        seen += 1
        expect([row.id, storedAt.get(row.id)]).toEqual([row.id, row.storedAt])
      }
      expect([seen, storedAt.size]).toEqual(resource === 'clicks' ? [2_900, 2_900] : [250, 250])
    }
    await database.end()
  })
})

/** Runs a script once. @throws Error with its output when it fails */
async function runScript(name: string, ...words: string[]) {
  const path = join(packageRoot, 'docs/examples', name)
  const [program, ...rest] = name.endsWith('.sh') ? [path, ...words] : [process.execPath, path, ...words]
  return await promisify(execFile)(program ?? path, rest, { env: environment }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${name}: ${error.stderr}${error.stdout}`)
    },
  )
}

const syncProgram = join(packageRoot, 'src/packages/sync/dist/main.js')
const syncArguments = () => [environment.COPY_URL ?? '', '--url', environment.TRIBUTARY_URL ?? '']

const rowsRequest = /^GET \/api\/v1\/(clicks|conversions)\?/

/** Runs tributary-sync, and restarts it whenever it exits. */
function startSync(): { kill(): void; end(): Promise<void> } {
  let isWanted = true
  let child = startOnce()
  let ended = restart()

  function startOnce() {
    const words = [syncProgram, ...syncArguments(), '--every', '1s', '--verify']
    return spawn(process.execPath, words, { env: environment, stdio: 'ignore' })
  }
  async function restart(): Promise<void> {
    await once(child, 'exit')
    if (!isWanted) return
    child = startOnce()
    ended = restart()
  }
  return {
    kill: () => void child.kill('SIGKILL'),
    async end() {
      isWanted = false
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function serve(): Promise<void> {
  server = start(['serve', '--json'], { ...stores.environment, PORT: '0' })
  const [line] = await once(server.stdout, 'data')
  address.port = Number(new URL(JSON.parse(`${line}`).url).port)
}

/** A URL cannot contain the socket path of the embedded Postgres. */
const copySocket: { path?: string } = {}

/** The copy is in the database of the stores, so that no other server is started. */
async function copyDatabase(): Promise<Record<string, string>> {
  const { DATABASE_URL, DATA_DIR = '' } = stores.environment
  if (DATABASE_URL) return { COPY_URL: DATABASE_URL }
  copySocket.path = join(folder, '.s.PGSQL.5432')
  await symlink(join(DATA_DIR, 'run/postgres.sock'), copySocket.path)
  return { COPY_URL: 'postgres:///postgres', PGHOST: folder, PGUSER: 'postgres', PGPORT: '5432' }
}
