// How many events a second are stored before they are answered, and how long does an answer take?
// bench/README.md says how to run this and how to read it.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/accounts.ts'
import { createKey } from '../src/accounts/keys.ts'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { type EventLoad, perSecondOf, type Seen, sendEvents } from './eventsLoad.ts'
import {
  clickhousePid,
  cpuMs,
  type Program,
  peakMb,
  resetPeak,
  startProgram,
  stopPrograms,
  urlOf,
} from './processes.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '1,64,256,1024' },
    /** Events that are stored before the first load, with random ids. */
    history: { type: 'string', default: '1000000' },
    /** Only loads whose name this regular expression finds. */
    only: { type: 'string', default: '' },
    /** V8 writes the server's CPU profile here when it ends. */
    profile: { type: 'string' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/events.json') },
  },
})

/** As `npm start` and the image start it. */
const nodeFlags = ['--max-semi-space-size=32', '--heap-growing-percent=100']

const account = 'bench'
const warmClicks = 10_000
const visitors = 50_000
const campaigns = 20

interface Load extends EventLoad {
  name: string
}

const loads: Load[] = [
  { name: 'event_id, warm clicks', attribution: 'click', identifiers: warmClicks, withIds: true },
  { name: 'no event_id, warm clicks', attribution: 'click', identifiers: warmClicks, withIds: false },
  { name: 'event_id, visitors', attribution: 'visitor', identifiers: visitors, withIds: true },
  { name: 'event_id, cold clicks', attribution: 'click', identifiers: 'new', withIds: true },
]

interface Figures {
  load: string
  connections: number
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** Of the baseline's requests a second at as many connections. */
  ratio: number
  answered: number
  stored: number
  partsPerSecond: number
  /** Processor time an event, microseconds: of the server, and of ClickHouse with its merges. */
  serverUs: number
  clickhouseUs: number
  /** Most that the server's process held. */
  memoryMb: number
  /** Cores that were busy with anything but the server, ClickHouse and the load: above 0.1 the machine was not quiet. */
  elsewhere: number
}

const seconds = Number(options.seconds)
const only = new RegExp(options.only)
const folder = await mkdtemp(join(tmpdir(), 'tributary-bench-'))
const settings = { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn' }
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
const results: Figures[] = []
const baselines: { connections: number; perSecond: number; p50Ms: number; p95Ms: number; p99Ms: number }[] = []
let clickhouseVersion = ''

try {
  await migrate(stores)
  const key = await fill(stores)
  clickhouseVersion = (await ask<{ version: string }>('SELECT version() AS version'))[0]?.version ?? ''
  const profiled = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  const server = await start([...nodeFlags, ...profiled, join(packageRoot, 'dist/src/main.js'), 'serve', '--json'])
  const empty = await start(['--import', 'tsx', join(packageRoot, 'bench/emptyRoute.ts')])
  await sendEvents(urlOf(server), { connections: 512, seconds: 6, run: 'warm up', key }, loads[0] as Load)
  await sendEvents(urlOf(empty), { connections: 512, seconds: 3, run: 'warm up', key }, loads[0] as Load)
  for (const connections of options.connections.split(',').map(Number)) {
    const [first] = loads
    const baseline = await sendEvents(urlOf(empty), { connections, seconds, run: 'baseline', key }, first as Load)
    const baselinePerSecond = perSecondOf(baseline)
    baselines.push({
      connections,
      perSecond: Math.round(baselinePerSecond),
      p50Ms: baseline.p50Us / 1000,
      p95Ms: baseline.p95Us / 1000,
      p99Ms: baseline.p99Us / 1000,
    })
    say(`empty route`, connections, baseline)
    for (const load of loads.filter(({ name }) => only.test(name))) {
      const figures = await measure(load, connections, key, server, baselinePerSecond)
      results.push(figures)
    }
  }
} finally {
  await stopPrograms()
  await stores.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

const [cpu] = cpus()
const report = {
  date: new Date().toISOString(),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim(),
  machine: `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, the load and both engines beside the server`,
  versions: { node: process.version, clickhouse: clickhouseVersion },
  secondsALoad: seconds,
  eventsBefore: Number(options.history),
  baselines,
  results,
}
console.table(results)
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`)
const wrong = results.filter(
  ({ answered, stored, connections }) => stored < answered || stored > answered + connections,
)
if (wrong.length > 0) throw new Error(`Rows stored and answers differ: ${JSON.stringify(wrong)}`)

/** Sends one load and counts what became of it. */
async function measure(
  load: Load,
  connections: number,
  key: string,
  server: Program,
  baselinePerSecond: number,
): Promise<Figures> {
  const run = `${load.attribution}-${load.identifiers}-${load.withIds ? 'ids' : 'none'}-${connections}`
  if (load.identifiers === 'new') await storeClicks(`${run}-`, Math.round(20_000 * (seconds + 2)))
  await resetPeak(server.pid)
  const engine = await enginePid()
  const before = await counts()
  const cpuBeforeMs = [await cpuMs(server.pid), await cpuMs(engine)] as const
  const elsewhereBefore = await elsewhereUs(server.pid, engine)
  const seen = await sendEvents(urlOf(server), { connections, seconds, run, key }, load)
  const elsewhere = ((await elsewhereUs(server.pid, engine)) - elsewhereBefore) / seen.durationUs
  const after = await settledCounts()
  const answered = seen.requests - seen.refused
  const figures = {
    load: load.name,
    connections,
    perSecond: Math.round(perSecondOf(seen)),
    p50Ms: seen.p50Us / 1000,
    p95Ms: seen.p95Us / 1000,
    p99Ms: seen.p99Us / 1000,
    ratio: Math.round((perSecondOf(seen) / baselinePerSecond) * 1000) / 1000,
    answered,
    // The load ends while up to one call a connection is under way: those are stored and nobody waits for the answer.
    stored: after.events - before.events,
    partsPerSecond: Math.round(((after.parts - before.parts) / (seen.durationUs / 1e6)) * 10) / 10,
    serverUs: Math.round((1000 * ((await cpuMs(server.pid)) - cpuBeforeMs[0])) / answered),
    clickhouseUs: Math.round((1000 * ((await cpuMs(engine)) - cpuBeforeMs[1])) / answered),
    memoryMb: await peakMb(server.pid),
    elsewhere: Math.round(elsewhere * 100) / 100,
  }
  say(load.name, connections, seen, figures)
  if (seen.refused + seen.broken > 0) throw new Error(`${seen.refused} calls were refused, ${seen.broken} broke.`)
  return figures
}

function say(name: string, connections: number, seen: Seen, figures?: Figures): void {
  const rest = figures
    ? `, ${figures.ratio} of the baseline, ${figures.stored} rows for ${figures.answered} answers, ${figures.partsPerSecond} parts/s, ${figures.serverUs} + ${figures.clickhouseUs} µs of processor, ${figures.memoryMb} MB, ${figures.elsewhere} cores busy elsewhere`
    : ''
  const times = [seen.p50Us, seen.p95Us, seen.p99Us].map((us) => (us / 1000).toFixed(1)).join(' / ')
  console.log(`${name}, ${connections} connections: ${Math.round(perSecondOf(seen))}/s, p50/p95/p99 ${times} ms${rest}`)
}

/** Starts a program on the bench's stores that tells its address in its first line. */
async function start(words: string[]): Promise<Program> {
  return await startProgram(words, { ...process.env, ...settings })
}

/** An account whose limits are all checked and never reached, its campaigns, clicks, and events of before. */
async function fill({ postgres }: Stores): Promise<string> {
  await setPlanLimits(postgres, 'scale', {
    eventsPerMinute: 100_000_000,
    identifierEventsPerMinute: 10_000_000,
    clickAllowance: 1_000_000_000,
  })
  await createAccount(postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
  for (let number = 0; number < campaigns; number++) {
    await postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at)
      VALUES (${account}, ${`campaign-${number}`}, 'A campaign', ${account}, 'active', now(), now())`
  }
  await storeClicks('click-', warmClicks)
  await run(`
    INSERT INTO pixel_events (account_id, origin, id, event_name, click_id, campaign_id, user_id, occurred_at, received_at)
    SELECT '${account}', 'server', toString(generateUUIDv4()), 'paid', concat('click-', toString(number % 1000)),
      'campaign-1', '${account}', now64(3), now64(3) - INTERVAL 2 DAY
    FROM numbers(${Number(options.history)})`)
  const created = await createKey(postgres, {
    accountId: account,
    name: 'bench',
    scopes: ['write:events'],
    expiresAt: null,
  })
  if (!created) throw new Error('The account is missing.')
  return created.key
}

/** Only what attribution reads: the index of clicks. */
async function storeClicks(prefix: string, count: number): Promise<void> {
  await run(`
    INSERT INTO click_index (account_id, id, clicked_at, campaign_id)
    SELECT '${account}', concat('${prefix}', toString(number)), now64(3), concat('campaign-', toString(number % ${campaigns}))
    FROM numbers(${count + 1})`)
}

/** Every insert makes one part, which takes the next block number. */
async function counts(): Promise<{ events: number; parts: number }> {
  const [rows] = await ask<{ events: number }>('SELECT count() AS events FROM pixel_events FINAL')
  const [blocks] = await ask<{ last: number }>(`
    SELECT max(max_block_number) AS last FROM system.parts WHERE database = currentDatabase() AND table = 'pixel_events'`)
  return { events: rows?.events ?? 0, parts: blocks?.last ?? 0 }
}

/** Waits until what was under way when the load ended is stored. */
async function settledCounts(): Promise<{ events: number; parts: number }> {
  for (let last = await counts(); ; ) {
    await sleep(500)
    const next = await counts()
    if (next.events === last.events) return next
    last = next
  }
}

async function ask<Row>(query: string): Promise<Row[]> {
  const settings = { output_format_json_quote_64bit_integers: 0 } as const
  const answer = await stores.clickhouse.client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })
  return await answer.json<Row>()
}

async function run(query: string): Promise<void> {
  await stores.clickhouse.client.command({ query })
}

async function enginePid(): Promise<number> {
  const pid = await clickhousePid(folder)
  if (pid === undefined) throw new Error('The process of ClickHouse is not there.')
  return pid
}

/** What this process took itself, and what its children took that have ended. */
async function ownCpuUs(): Promise<[own: number, ofChildren: number]> {
  const fields = (await readFile('/proc/self/stat', 'utf8')).split(') ')[1]?.split(' ').map(Number) ?? []
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15)
  return [(user + system) * 10_000, (childrenUser + childrenSystem) * 10_000]
}

/** What the machine has been busy with besides the server, ClickHouse, this process and its loads that have ended. */
async function elsewhereUs(server: number, engine: number): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/ +/).slice(1).map(Number)
  const [own, ofLoads] = await ownCpuUs()
  const ours = own + ofLoads + 1000 * ((await cpuMs(server)) + (await cpuMs(engine)))
  return (user + nice + system + irq + softirq) * 10_000 - ours
}
