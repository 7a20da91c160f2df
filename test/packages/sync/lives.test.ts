// @module-tag long

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { scopes } from '../../../schema/scopes.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/manageKeys.ts'
import { packageRoot } from '../../../src/package.ts'
import { createTributary, type Event, type Tributary } from '../../../src/packages/client/client.ts'
import { start } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { openApiProxy } from '../../kit/apiProxy.ts'
import { openCopyTarget } from '../../kit/copyTarget.ts'
import { useFolder, useOpened, useTestStores } from '../../kit/fixtures.ts'
import { processesOf } from '../../kit/processes.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { freePort } from '../../kit/serverProcess.ts'
import { expectEqualRows } from './expectEqualRows.ts'
import { queryDuckdb } from './queryDuckdb.ts'

/** An engine that has been killed five times within 30 s each starts again after up to 30 s; a retry waits for 2 s. */
const unavailableRetries = 30

const program = join(packageRoot, 'src/packages/sync/dist/main.js')

const port = await freePort()
let waiting: { missing: number; kill(): void } | undefined
let server: ReturnType<typeof start>

const stores = useTestStores()
const folder = useFolder()
const target = useOpened(() => openCopyTarget(stores))
const proxy = useOpened(() =>
  openApiProxy(`http://127.0.0.1:${port}`, {
    async before() {
      if (waiting === undefined || --waiting.missing > 0) return
      waiting.kill()
      waiting = undefined
      // The process is killed before the request is forwarded.
      await new Promise(setImmediate)
    },
  }),
)
beforeAll(async () => {
  stores.markDirty()
  await serve()
})
afterAll(() => void server?.kill('SIGKILL'))

async function serve(): Promise<void> {
  server = start(['serve', '--json'], { ...stores.environment, PORT: `${port}` })
  server.stderr.resume()
  await once(server.stdout, 'data')
  server.stdout.resume()
}

const firstMs = Date.UTC(2026, 10, 18)
const hourMs = 3_600_000

type Change =
  | { resource: 'clicks' | 'conversions' | 'costs' | 'pixel-events'; rows: object[] }
  | { resource: 'events'; events: Event[] }

/** Which process is killed, and at which of the next requests of the copy. */
interface Kill {
  victim: 'sync' | 'server' | 'clickhouse/engine' | 'postgres/engine'
  request: number
}

interface Step {
  change: Change
  kill: Kill | undefined
}

const rowNumbers = fc.uniqueArray(fc.nat(400), { minLength: 1, maxLength: 120 })
const instant = (hours: number) => new Date(firstMs + hours * hourMs).toISOString()

/** Repeated numbers are duplicates. The time of a click follows from its number, so that late clicks are older. */
const clicks = rowNumbers.map((numbers) => ({
  resource: 'clicks' as const,
  rows: numbers.map((n) => ({
    id: `c${n}`,
    clickedAt: instant(((n * 37) % 400) / 4),
    campaignId: `k${n % 3}`,
    cost: n / 1_000,
    country: ['DE', 'US', undefined][n % 3],
    isBot: n % 11 === 0,
    isTest: n % 13 === 0,
    referrer: `"\\${n}\n`,
    ...(n % 5 === 0 && { subIds: { sub1: `s${n}` } }),
  })),
}))

/** Conversions of clicks that are there, come later or never; a later round changes status, amount or time. */
const conversions = fc
  .record({
    numbers: rowNumbers,
    status: fc.constantFrom('pending', 'approved', 'declined', 'refunded'),
    round: fc.nat(9),
    movedHours: fc.constantFrom(0, 0, 26),
  })
  .map(({ numbers, status, round, movedHours }) => ({
    resource: 'conversions' as const,
    rows: numbers.map((n) => ({
      id: `v${n}`,
      status,
      clickId: `c${n * 2}`,
      revenue: (10 * n + round) / 10,
      isTest: n % 17 === 0,
      convertedAt: instant(n / 4 + movedHours),
      updatedAt: new Date(firstMs + round * 1_000).toISOString(),
    })),
  }))

/** Costs of hours; a later round changes the amount, or takes the row back. */
const costs = fc.record({ numbers: rowNumbers, round: fc.nat(9) }).map(({ numbers, round }) => ({
  resource: 'costs' as const,
  rows: numbers.map((n) => ({
    spentAt: instant(n / 4),
    campaignId: `k${n % 3}`,
    cost: round === 9 ? 0 : (n + round) / 100,
    updatedAt: new Date(firstMs + round * 1_000).toISOString(),
  })),
}))

const browserEvents = rowNumbers.map((numbers) => ({
  resource: 'pixel-events' as const,
  rows: numbers.map((n) => ({ id: `e${n}`, eventName: 'visit', clickId: `c${n}`, occurredAt: instant(n / 4) })),
}))

/** Events of visitors, so that they need no click. */
const serverEvents = rowNumbers.map((numbers) => ({
  resource: 'events' as const,
  events: numbers.map((n) => ({
    event_id: `e${n}`,
    event_name: 'paid',
    visitor_id: `u${n}`,
    campaign_id: 'k0',
    value: n / 7,
    properties: { n, text: '"\u0000' },
  })),
}))

const kill = fc.record({
  victim: fc.constantFrom('sync', 'sync', 'server', 'server', 'clickhouse/engine', 'postgres/engine'),
  request: fc.integer({ min: 1, max: 20 }),
}) satisfies fc.Arbitrary<Kill>

/** A life begins with rows of every kind. */
const life: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.tuple(clicks, conversions, costs, browserEvents, serverEvents),
    fc.array(
      fc.record({
        change: fc.oneof(clicks, conversions, costs, browserEvents, serverEvents) as fc.Arbitrary<Change>,
        kill: fc.option(kill, { nil: undefined, freq: 4 }),
      }),
      { minLength: 2, maxLength: 5 },
    ),
  )
  .map(([first, later]) => [...first.map((change): Step => ({ change, kill: undefined })), ...later])

interface Life {
  accountId: string
  client: Tributary
  /** Arguments and environment of tributary-sync. */
  words: string[]
  environment: NodeJS.ProcessEnv
  schema: string
  /** Reads rows of the copy, when no tributary-sync runs. */
  read(statement: string): PromiseLike<Record<string, unknown>[]>
}

it.each(['PostgreSQL', 'DuckDB'] as const)(
  'a copy in %s equals its source in every field after random changes and kills of it, of the server and of the engines',
  async (database) => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(life, async (steps) => {
        count += 1
        await live(await begin(`${database.toLowerCase()}_${count}`, database), steps)
      }),
      { numRuns: randomCases(1), endOnFailure: true },
    )
  },
)

async function begin(name: string, database: 'PostgreSQL' | 'DuckDB'): Promise<Life> {
  await createAccount(stores.postgres, { id: name, name, plan: 'scale', currency: 'USD' })
  const created = await createKey(stores.postgres, { accountId: name, name, scopes, expiresAt: null })
  const apiKey = created?.key ?? ''
  const campaigns = [0, 1, 2].map((n) => ({ id: `k${n}`, name: `Campaign ${n}` }))
  await importContent(stores, name, 'campaigns', campaigns)
  const file = folder(`copy_${name}.duckdb`)
  const isPostgres = database === 'PostgreSQL'
  return {
    accountId: name,
    client: createTributary({ baseUrl: proxy.url, apiKey, retries: unavailableRetries }),
    words: [program, isPostgres ? target.url : file, '--url', proxy.url, '--schema', name, '--json'],
    environment: { PATH: process.env.PATH, TRIBUTARY_KEY: apiKey, ...target.environment },
    schema: name,
    read: (statement) => (isPostgres ? target.sql.unsafe(statement) : queryDuckdb(file, statement)),
  }
}

async function live(one: Life, steps: readonly Step[]): Promise<void> {
  const copy = startSync(one)
  for (const { change, kill } of steps) {
    const killed =
      kill &&
      new Promise<void>((reached) => {
        waiting = { missing: kill.request, kill: reached }
      }).then(() => end(kill.victim, copy))
    await apply(one, change)
    await killed
  }
  await copy.end()
  await untilEventsAreListed(one)

  const { verified } = await sync(one, '--verify')
  expect(Object.values(verified ?? {}).map(({ repaired }) => repaired)).toEqual([[], [], [], []])
  await expectEqualRows(one.client, one.read, one.schema)

  const { rows } = await sync(one)
  expect(rows).toMatchObject({ clicks: 0, conversions: 0, costs: 0, events: 0 })
  await target.sql`DROP SCHEMA IF EXISTS ${target.sql(one.schema)} CASCADE`
}

async function apply({ accountId, client }: Life, change: Change): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rejected } =
        change.resource === 'events'
          ? await client.sendEvents(change.events)
          : await importContent(stores, accountId, change.resource, change.rows)
      expect(rejected).toEqual(change.resource === 'events' ? [] : 0)
    },
    { timeout: 90_000, interval: 250 },
  )
}

/** Kills a process, and starts it again; a supervisor does this for the engines. */
async function end(victim: NonNullable<Step['kill']>['victim'], copy: { kill(): void }): Promise<void> {
  if (victim === 'sync') return copy.kill()
  if (victim === 'server') {
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
    return await serve()
  }
  // Servers of the suite are shared; only embedded engines are killed.
  const engine = processesOf(stores.settings.DATA_DIR).find(({ program }) => program === victim)
  if (engine) process.kill(engine.id, 'SIGKILL')
}

async function sync({ words, environment }: Life, ...more: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [...words, ...more], { env: environment })
  return JSON.parse(stdout) as { rows: Record<string, number>; verified?: Record<string, { repaired: string[] }> }
}

/** Runs the copy again and again, as a service does, and starts it again whenever it exits. */
function startSync({ words, environment }: Life): { kill(): void; end(): Promise<void> } {
  let isWanted = true
  const errors: string[] = []
  let child = startOnce()
  const ended = keepRunning()

  function startOnce() {
    const started = spawn(process.execPath, [...words, '--every', '1s'], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    void text(started.stderr).then((said) => errors.push(said))
    return started
  }
  async function keepRunning(): Promise<void> {
    for (;;) {
      await once(child, 'exit')
      if (!isWanted) return
      child = startOnce()
    }
  }
  return {
    kill: () => void child.kill('SIGKILL'),
    async end() {
      isWanted = false
      child.kill('SIGTERM')
      await ended
      const lines = errors.join('').split('\n').filter(Boolean)
      // A failure is one line, never a stack.
      expect(lines.filter((line) => !line.startsWith('error: '))).toEqual([])
    },
  }
}

/** Waits until lists by `storedAt` have every event: they end a second before the present. */
async function untilEventsAreListed({ client }: Life): Promise<void> {
  const stored = async () => {
    let last = ''
    for await (const { storedAt } of client.exportRows('/events')) if (storedAt > last) last = storedAt
    return last
  }
  const last = await stored()
  const asOf = async () => (await client.get('/checksums/events', { query: { from: '2026-11-18' } })).asOf
  await expect.poll(async () => (await asOf()) > last, { timeout: 30_000 }).toBe(true)
}
