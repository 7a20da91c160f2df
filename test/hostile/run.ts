// Measures whether hostile clients slow down regular ones or leak resources of the server. The attacks run one after the
// other, each together with regular clients and with exports that are never read: first on the embedded engines, then with
// a PostgreSQL 15 server where it is installed, unless --embedded is given.
//   npm run hostile [-- [--embedded] parts of the names of attacks]
// Takes five minutes and connects to 127.0.0.1 only. Fails when a regular response is not 200, when the p99 of regular
// requests is 1 s or more, when the server uses 400 MB or more, when it does not release resources, or when one allowed read
// blocks its event loop for 20 ms or more.
import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Program, startProgram, stopPrograms } from '../../bench/processes.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, readerConnectionsMax, type Stores } from '../../src/stores/open.ts'
import { poolConnectionsMax } from '../../src/stores/postgres/connection.ts'
import { sendRequest } from '../faults/httpRequest.ts'
import { CleanUp } from '../kit/cleanUp.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { processIdOf } from '../kit/processes.ts'
import { freePort } from '../kit/serverProcess.ts'
import { type Accounts, fillAccounts } from './accounts.ts'
import { type Attack, type AttackContext, attacks, feedToken, stallExports } from './attacks.ts'
import { measureReadCosts } from './readCosts.ts'
import { kinds, openRegularClients, type RegularClients } from './regularClients.ts'
import {
  clickhouseQueries,
  countResources,
  grownSince,
  type Resources,
  waitForRelease,
  waitUntilSteady,
  watchMemory,
} from './resources.ts'

const attackMs = 10_000
const p99MaxMs = 1_000
const memoryMaxMb = 400
/** Longest CPU time of a turn of the event loop for one allowed read. */
const blockedMaxMs = 20
/** The server disconnects a client that reads nothing for 60 s; it checks every 5 s. No other query runs that long. */
const stalledMaxMs = 75_000
const stalledFromS = 25
/** Closing idle store connections and cancelling queries of disconnected clients takes some seconds. */
const releaseMaxMs = 30_000
const nodeOptions = ['--max-semi-space-size=32', '--heap-growing-percent=100']

const words = process.argv.slice(2)
const parts = words.filter((word) => word !== '--embedded')
const selected = Object.entries(attacks).filter(
  ([name]) => parts.length === 0 || parts.some((part) => name.includes(part)),
)
const failed: string[] = []
const cleanUp = new CleanUp()

try {
  await runOn('embedded engines', {})
  await cleanUp.run()
  if (!words.includes('--embedded') && hasPostgres()) {
    const server = await startPostgres()
    cleanUp.add(() => server.close())
    await runOn('PostgreSQL 15', { DATABASE_URL: server.url('tributary') })
  }
} finally {
  await cleanUp.run()
}
for (const line of failed) console.log(`FAILED: ${line}`)
if (failed.length === 0) console.log('All checks passed.')
process.exit(failed.length === 0 ? 0 : 1)

async function runOn(where: string, databases: Record<string, string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-hostile-'))
  cleanUp.add(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'error', ...databases }
  const stores = await openStores(readSettings(environment), ({ message }) => console.error(message))
  cleanUp.add(() => stores.close())
  cleanUp.add(stopPrograms)
  await migrate(stores)
  const accounts = await fillAccounts(stores)
  const turns = join(import.meta.dirname, 'longestTurn.mjs')
  const words = [...nodeOptions, '--import', turns, join(packageRoot, 'dist/src/main.js'), 'serve', '--json']
  const file = join(folder, 'longest-turn')
  const server = await startProgram(words, { PATH: process.env.PATH, LONGEST_TURN_FILE: file, ...environment })
  const postgresPid = processIdOf(folder, 'postgres/engine')
  const count = () => countResources(server.pid, stores, postgresPid)
  const regulars = openRegularClients(Number(environment.PORT), accounts)
  await regulars.warmUp()
  regulars.disconnect()
  await checkReadCosts(where, Number(environment.PORT), { pid: server.pid, file }, accounts)
  const before = allowIdlePoolConnections(await waitUntilSteady(count), postgresPid)
  // After the counts: its sessions are none of the server.
  const feedPort = await freePort()
  const feed = await startProgram([...nodeOptions, join(packageRoot, 'dist/src/main.js'), 'feed', '--json'], {
    PATH: process.env.PATH,
    ...environment,
    METRICS_PORT: '0',
    FEED_PORT: `${feedPort}`,
    FEED_TOKEN: feedToken,
  })
  const target = { port: Number(environment.PORT), feedPort, accounts }
  await attackAll(where, target, { server, stores, regulars })
  regulars.disconnect()
  const feedCode = await feed.stop('SIGTERM')
  const fed = await stores.clickhouse.client.query({
    query: `SELECT count() AS rows FROM clicks WHERE account_id = 'fed-0'`,
    format: 'JSONEachRow',
  })
  const [{ rows } = { rows: 0 }] = await fed.json<{ rows: number }>()
  console.log(`\nThe feed stored ${rows} clicks of one account on ${where}.`)
  if (selected.some(([name]) => name.startsWith('a feed')) && Number(rows) === 0)
    failed.push(`${where}: the feed stored no rows.`)
  if (feedCode !== 0) failed.push(`${where}: the feed exited with code ${feedCode}.`)
  const after = await waitForRelease(before, count, releaseMaxMs)
  console.log(`\nResources of the server on ${where}:`)
  console.table({ allowed: before, after })
  for (const name of grownSince(before, after))
    failed.push(`${where}: ${name} grew from ${before[name]} to ${after[name]}.`)
  await checkSlots(where, Number(environment.PORT), accounts)
  const code = await server.stop('SIGTERM')
  if (code !== 0) failed.push(`${where}: the server exited with code ${code}.`)
}

/** Checks, before the attacks, for how long one read can delay the requests of other accounts. */
async function checkReadCosts(
  where: string,
  port: number,
  server: { pid: number; file: string },
  accounts: Accounts,
): Promise<void> {
  const costs = await measureReadCosts(port, server, accounts)
  console.log(`\nLongest CPU time of a turn of the event loop during one read on ${where}, ms:`)
  console.table(costs)
  for (const [read, blockedMs] of Object.entries(costs)) {
    if (!(blockedMs < blockedMaxMs)) failed.push(`${where}: ${read} blocked the event loop for ${blockedMs} ms.`)
  }
}

/** A pool of a server's connections opens some of them only under load and keeps them: they are no leak. */
function allowIdlePoolConnections(counts: Resources, embeddedPid: number | undefined): Resources {
  if (embeddedPid) return counts
  // One listens for changed keys, and one counts the sessions.
  const sessionsMax = poolConnectionsMax + readerConnectionsMax + 2
  const unopened = Math.max(0, sessionsMax - counts.postgresSessions)
  return {
    ...counts,
    postgresSessions: counts.postgresSessions + unopened,
    fileDescriptors: counts.fileDescriptors + unopened,
  }
}

/** Runs the attacks one by one; exports that are never read run during all of them. */
async function attackAll(
  where: string,
  target: Omit<AttackContext, 'signal'>,
  { server, stores, regulars }: { server: Program; stores: Stores; regulars: RegularClients },
): Promise<void> {
  const rows: Record<string, string | number>[] = []
  let startedMs = 0
  const stalling = new AbortController()
  setMaxListeners(0, stalling.signal)
  const stall: Attack = async (context) => {
    startedMs = performance.now()
    stallExports({ ...context, signal: stalling.signal })
  }
  let stalledMax = 0
  let lastStalledMs = 0
  const watching = setInterval(async () => {
    const stalled = await clickhouseQueries(stores, stalledFromS)
    stalledMax = Math.max(stalledMax, stalled)
    if (stalled > 0) lastStalledMs = performance.now() - startedMs
  }, 1_000)
  const withoutAttack: Attack = async () => {}
  for (const [name, attack] of [
    ['no attack', withoutAttack] as const,
    ['two exports of each of 6 accounts, never read', stall] as const,
    ...selected,
  ]) {
    const end = new AbortController()
    setMaxListeners(0, end.signal)
    const memoryMb = watchMemory(server.pid)
    const attacking = attack({ ...target, signal: end.signal })
    const outcomes = await regulars.run(attackMs)
    end.abort()
    await attacking
    const maxMb = memoryMb()
    const latencies = kinds.map((kind) => [kind, `${outcomes[kind].p50Ms} / ${outcomes[kind].p99Ms}`])
    rows.push({ attack: name, MB: maxMb, ...Object.fromEntries(latencies) })
    for (const kind of kinds) {
      const { p99Ms, failures } = outcomes[kind]
      const what = `${where}: ${name}: ${kind}`
      // The other kinds have too few requests for a quantile.
      if ((kind === 'read' || kind === 'event' || kind === 'health') && p99Ms >= p99MaxMs)
        failed.push(`${what}: p99 was ${p99Ms} ms.`)
      for (const [failure, times] of Object.entries(failures)) failed.push(`${what}: ${times} × ${failure}`)
    }
    if (maxMb >= memoryMaxMb) failed.push(`${where}: ${name}: the server used ${maxMb} MB.`)
  }
  await sleep(Math.max(0, startedMs + stalledMaxMs - performance.now()))
  clearInterval(watching)
  stalling.abort()
  if (stalledMax === 0) failed.push(`${where}: no export was stalled, so stalled exports were not tested.`)
  if (lastStalledMs > stalledMaxMs - 5_000) failed.push(`${where}: exports that were not read were not ended.`)
  console.log(`\nResponse times of regular clients on ${where}, p50 / p99 in ms, and the peak memory of the server:`)
  console.table(rows)
  console.log(
    `${stalledMax} exports were never read; the last one was ended after ${Math.round(lastStalledMs / 1000)} s.`,
  )
}

/** Checks that the attacking accounts can use all of their concurrent reads and exports again. */
async function checkSlots(where: string, port: number, { attacking, searching, stalling }: Accounts): Promise<void> {
  const agent = new Agent()
  const get = async (path: string, key: string) =>
    (await sendRequest(agent, { port }, { method: 'GET', path, key }))?.status
  const reads = [attacking, searching].flatMap((key) => Array.from({ length: 8 }, () => get('/api/v1/clicks', key)))
  const exports = stalling.slice(0, 3).flatMap((key) => [1, 2].map(() => get('/api/v1/clicks?format=csv', key)))
  const statuses = await Promise.all([...reads, ...exports])
  const refused = statuses.filter((status) => status !== 200)
  if (refused.length > 0) failed.push(`${where}: slots were not released: ${refused.join(', ')}`)
}
