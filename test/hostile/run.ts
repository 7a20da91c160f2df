// Do hostile clients slow down regular ones, or take what the server does not get back? One attack after the other runs
// beside regular clients, and beside exports that are never read. First on the embedded engines, then with a PostgreSQL 15
// server where it is installed.
//   npm run hostile [-- parts of the names of attacks]
// It takes five minutes and asks 127.0.0.1 alone. It fails when a regular request is not answered 200, when their p99 is
// 1 s or more, when the server holds 400 MB, or when it does not get back what it had.
import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Program, startProgram, stopPrograms } from '../../bench/processes.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { ask } from '../faults/queries.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { freePort } from '../kit/serverProcess.ts'
import { type Accounts, fillAccounts } from './accounts.ts'
import { type Attack, attacks, type Battle, stallExports } from './attacks.ts'
import { type Kind, kinds, type Outcome, Regulars } from './regulars.ts'
import {
  clickhouseQueries,
  embeddedPostgresPid,
  grownSince,
  heldBy,
  untilBack,
  watchMemory,
  whenSteady,
} from './resources.ts'

const attackMs = 10_000
const p99MaxMs = 1_000
const memoryMaxMb = 400
/** A reader that takes nothing for a minute is disconnected; a check comes every five seconds. No other query takes so long. */
const stalledMaxMs = 75_000
const stalledFromS = 25
/** Idle connections to the stores, and queries whose client has left, take a moment. */
const backMaxMs = 30_000
/** As `npm start` starts it. */
const nodeOptions = ['--max-semi-space-size=32', '--heap-growing-percent=100']

const parts = process.argv.slice(2)
const wanted = Object.entries(attacks).filter(
  ([name]) => parts.length === 0 || parts.some((part) => name.includes(part)),
)
const broken: string[] = []

await runOn('embedded engines', {})
if (hasPostgres()) {
  const server = await startPostgres()
  try {
    await runOn('PostgreSQL 15', { DATABASE_URL: server.url('tributary') })
  } finally {
    await server.close()
  }
}
for (const line of broken) console.log(`FAILED: ${line}`)
if (broken.length === 0) console.log('Every promise held.')
process.exit(broken.length === 0 ? 0 : 1)

async function runOn(where: string, databases: Record<string, string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-hostile-'))
  const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'error', ...databases }
  const stores = await openStores(readSettings(environment), ({ message }) => console.error(message))
  try {
    await migrate(stores)
    const accounts = await fillAccounts(stores)
    const words = [...nodeOptions, join(packageRoot, 'dist/src/main.js'), 'serve', '--json']
    const server = await startProgram(words, { PATH: process.env.PATH, ...environment })
    const postgresPid = embeddedPostgresPid(folder)
    const count = () => heldBy(server.pid, stores, postgresPid)
    const regulars = new Regulars(Number(environment.PORT), accounts)
    await regulars.warmUp()
    regulars.disconnect()
    const before = await whenSteady(count)
    await attackAll(where, { port: Number(environment.PORT), accounts }, { server, stores, regulars })
    regulars.disconnect()
    const after = await untilBack(before, count, backMaxMs)
    console.log(`\nWhat the server holds, on ${where}:`)
    console.table({ before, after })
    for (const name of grownSince(before, after)) {
      broken.push(`${where}: ${name} were ${before[name]} and are ${after[name]}.`)
    }
    await checkSlots(where, Number(environment.PORT), accounts)
    const code = await server.stop('SIGTERM')
    if (code !== 0) broken.push(`${where}: the server ended with ${code}.`)
  } finally {
    await stopPrograms()
    await stores.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}

/** Runs the attacks one by one, and exports that are never read beside all of them. */
async function attackAll(
  where: string,
  target: Omit<Battle, 'signal'>,
  { server, stores, regulars }: { server: Program; stores: Stores; regulars: Regulars },
): Promise<void> {
  const rows: Record<string, string | number>[] = []
  let startedMs = 0
  const stalling = new AbortController()
  setMaxListeners(0, stalling.signal)
  const stall: Attack = async (battle) => {
    startedMs = performance.now()
    stallExports({ ...battle, signal: stalling.signal })
  }
  let stalledMost = 0
  let stalledMs = 0
  const watching = setInterval(async () => {
    const stalled = await clickhouseQueries(stores, stalledFromS)
    stalledMost = Math.max(stalledMost, stalled)
    if (stalled > 0) stalledMs = performance.now() - startedMs
  }, 1_000)
  const withoutAttack: Attack = async () => {}
  for (const [name, attack] of [
    ['no attack', withoutAttack] as const,
    ['two exports of each of 6 accounts, never read', stall] as const,
    ...wanted,
  ]) {
    const end = new AbortController()
    setMaxListeners(0, end.signal)
    const memoryMb = watchMemory(server.pid)
    const attacking = attack({ ...target, signal: end.signal })
    const outcomes = await regulars.work(attackMs)
    end.abort()
    await attacking
    const mostMb = memoryMb()
    const latencies = kinds.map((kind) => [kind, `${outcomes[kind].p50Ms} / ${outcomes[kind].p99Ms}`])
    rows.push({ attack: name, MB: mostMb, ...Object.fromEntries(latencies) })
    for (const kind of kinds) judge(`${where}: ${name}: ${kind}`, kind, outcomes[kind])
    if (mostMb >= memoryMaxMb) broken.push(`${where}: ${name}: the server held ${mostMb} MB.`)
  }
  await sleep(Math.max(0, startedMs + stalledMaxMs - performance.now()))
  clearInterval(watching)
  stalling.abort()
  if (stalledMost === 0) broken.push(`${where}: no export was stalled, so nothing was tried.`)
  if (stalledMs > stalledMaxMs - 5_000) broken.push(`${where}: exports that were not read went on.`)
  console.log(`\nResponse times of regular clients on ${where}, p50 / p99 in ms, and the most memory of the server:`)
  console.table(rows)
  console.log(`${stalledMost} exports were never read; the last was ended after ${Math.round(stalledMs / 1000)} s.`)
}

function judge(what: string, kind: Kind, { p99Ms, others }: Outcome): void {
  // Of the other kinds there are too few requests for a quantile.
  if ((kind === 'read' || kind === 'event') && p99Ms >= p99MaxMs) broken.push(`${what}: p99 was ${p99Ms} ms.`)
  for (const [said, times] of Object.entries(others)) broken.push(`${what}: ${times} × ${said}`)
}

/** The accounts that attacked can use all of their concurrent reads and exports again. */
async function checkSlots(where: string, port: number, { attacking, searching, stalling }: Accounts): Promise<void> {
  const agent = new Agent()
  const get = async (path: string, key: string) =>
    (await ask(agent, { port, isDown: () => false }, { method: 'GET', path, key }))?.status
  const reads = [attacking, searching].flatMap((key) => Array.from({ length: 8 }, () => get('/api/v1/clicks', key)))
  const exports = stalling.slice(0, 3).flatMap((key) => [1, 2].map(() => get('/api/v1/clicks?format=csv', key)))
  const statuses = await Promise.all([...reads, ...exports])
  const refused = statuses.filter((status) => status !== 200)
  if (refused.length > 0) broken.push(`${where}: places are not free again: ${refused.join(', ')}`)
}
