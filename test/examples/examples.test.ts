import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes } from '../../schema/scopes.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createTributary, type Tributary } from '../../src/client/client.ts'
import { packageRoot } from '../../src/package.ts'
import { start } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { openTestStores, type TestStores } from '../kit/stores.ts'

// The scripts of docs/examples, run as they stand against a server in a process of its own.

let stores: TestStores
let server: ChildProcessWithoutNullStreams
let tributary: Tributary
let port: string
/** What the scripts are told by. */
let environment: Record<string, string>
let folder: string

beforeAll(async () => {
  stores = await openTestStores()
  await createAccount(stores.postgres, { id: 'acme', name: 'Acme', plan: 'scale', currency: 'USD' })
  const created = await createKey(stores.postgres, { accountId: 'acme', name: 'x', scopes, expiresAt: null })
  if (!created) throw new Error('no key')
  folder = await mkdtemp(join(tmpdir(), 'tributary-mirror-'))
  port = `${await freePort()}`
  const baseUrl = `http://127.0.0.1:${port}`
  environment = {
    PATH: process.env.PATH ?? '',
    TRIBUTARY_URL: baseUrl,
    TRIBUTARY_KEY: created.key,
    ...(await mirrorDatabase()),
  }
  tributary = createTributary({ baseUrl, apiKey: created.key })
  await importContent(stores, 'acme', 'campaigns', [{ id: 'spring', name: 'Spring' }])
  await importContent(stores, 'acme', 'clicks', clicks(0, 2_500))
  await importContent(stores, 'acme', 'conversions', conversions(0, 250, 'pending'))
  await serve()
})
afterAll(async () => {
  server?.kill('SIGKILL')
  await stores?.close()
  await rm(folder, { recursive: true, force: true })
})

const firstMs = Date.UTC(2026, 10, 20)
const clicks = (from: number, until: number) =>
  Array.from({ length: until - from }, (_, n) => ({
    id: `c${from + n}`,
    // The later one comes, the earlier it is dated: who reads by `clickedAt` alone misses it.
    clickedAt: new Date(firstMs - (from + n) * 1_000).toISOString(),
    campaignId: n % 3 === 0 ? 'spring' : 'autumn',
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
    // Some turn into tests in the end.
    isTest: status === 'refunded' && (from + n) % 10 === 0,
  }))
const rounds = { pending: 0, hold: 1, approved: 2, refunded: 3 }

describe('docs/examples', () => {
  it('pull.mjs prints the clicks that converted', async () => {
    const { stdout } = await runScript('pull.mjs')
    expect(stdout.trim().split('\n')).toHaveLength(250)
  })

  it('duckdb.sh counts what the report counts', async () => {
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

  it('mirror.mjs ends equal to the source, whatever comes late, changes or is killed meanwhile', {
    timeout: 120_000,
  }, async () => {
    const mirror = keepMirroring()
    for (const [round, status] of Object.keys(rounds).entries()) {
      const first = 2_500 + round * 100
      await importContent(stores, 'acme', 'clicks', clicks(first, first + 100))
      server.kill('SIGKILL')
      await importContent(stores, 'acme', 'conversions', conversions(0, 100 + 50 * round, status))
      await serve()
      if (round % 2 === 0) mirror.kill()
    }
    await mirror.end()
    await runScript('mirror.mjs')
    const database = postgres(environment.MIRROR_URL ?? '', { ...mirrorSocket, max: 1 })
    for (const resource of ['clicks', 'conversions'] as const) {
      const mirrored = await database`SELECT row FROM ${database(`mirror_${resource}`)}`
      const rows = new Map(mirrored.map(({ row }) => [row.id, row]))
      let seen = 0
      const query = { limit: 200, ...(resource === 'conversions' && { include_test_mode: true }) }
      for await (const row of tributary.rows(`/${resource}`, { query })) {
        seen += 1
        expect(row).toMatchObject(rows.get(row.id))
      }
      expect([seen, rows.size]).toEqual(resource === 'clicks' ? [2_900, 2_900] : [250, 250])
    }
    await database.end()
  })
})

/** Runs a script once. @throws Error with what it said, when it fails */
async function runScript(name: string, ...words: string[]) {
  const path = join(packageRoot, 'docs/examples', name)
  const [program, ...rest] = name.endsWith('.sh') ? [path, ...words] : [process.execPath, path, ...words]
  const env = { ...environment, EVERY_S: '0' }
  return await promisify(execFile)(program ?? path, rest, { env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${name}: ${error.stderr}${error.stdout}`)
    },
  )
}

/** Runs the mirror all the time, and again whenever it has ended. */
function keepMirroring(): { kill(): void; end(): Promise<void> } {
  const path = join(packageRoot, 'docs/examples/mirror.mjs')
  let isWanted = true
  let child = begin()
  let ended = again()

  function begin() {
    return spawn(process.execPath, [path], { env: { ...environment, EVERY_S: '0.05' }, stdio: 'ignore' })
  }
  async function again(): Promise<void> {
    await once(child, 'exit')
    if (!isWanted) return
    child = begin()
    ended = again()
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
  server = start(['serve', '--json'], { ...stores.environment, PORT: port })
  await once(server.stdout, 'data')
}

/** The embedded Postgres listens under a name that a URL can't say. */
const mirrorSocket: { path?: string } = {}

/** The database of the mirror: that of the stores, so that nothing else has to be started. */
async function mirrorDatabase(): Promise<Record<string, string>> {
  const { DATABASE_URL, DATA_DIR = '' } = stores.environment
  if (DATABASE_URL) return { MIRROR_URL: DATABASE_URL }
  mirrorSocket.path = join(folder, '.s.PGSQL.5432')
  await symlink(join(DATA_DIR, 'run/postgres.sock'), mirrorSocket.path)
  return { MIRROR_URL: 'postgres:///postgres', PGHOST: folder, PGUSER: 'postgres', PGPORT: '5432' }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
