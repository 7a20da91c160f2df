// Measures events per second, each stored before its response, and response times. bench/README.md explains options and
// output.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
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
import { type EventLoad, type LoadResult, perSecondOf, sendEvents, warmUp } from './eventsLoad.ts'
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
import { describeMachine, provenance, writeResults } from './results.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '1,4,16,64,256,1024' },
    /** Number of events with random ids that are stored before the first load. */
    history: { type: 'string', default: '1000000' },
    /** Regular expression that the names of loads must match. */
    only: { type: 'string', default: '' },
    /** Folder for the CPU profile of the server. */
    profile: { type: 'string' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/events.ndjson') },
  },
})

/** The options of `npm start` and the image. */
const nodeFlags = ['--max-semi-space-size=32', '--heap-growing-percent=100']

const account = 'bench'
const warmClicks = 10_000
const visitors = 50_000
const campaigns = 20

interface Load extends EventLoad {
  name: string
}

/** Batches are sent on these connections only: more do not store more. */
const batchConnectionsMax = 16

const warmLoad = {
  name: 'event_id, warm clicks',
  attribution: 'click',
  identifiers: warmClicks,
  withIds: true,
} as const

const loads: Load[] = [
  warmLoad,
  { name: 'no event_id, warm clicks', attribution: 'click', identifiers: warmClicks, withIds: false },
  { name: 'event_id, visitors', attribution: 'visitor', identifiers: visitors, withIds: true },
  { name: 'event_id, cold clicks', attribution: 'click', identifiers: 'new', withIds: true },
  ...[100, 1_000].flatMap((events) =>
    (['json', 'ndjson'] as const).flatMap((format) =>
      ([warmClicks, 'new'] as const).map((identifiers) => ({
        name: `batches of ${events}, ${format}, ${identifiers === 'new' ? 'cold' : 'warm'} clicks`,
        ...{ attribution: 'click' as const, identifiers, withIds: true, batch: { events, format } },
      })),
    ),
  ),
]

interface Figures {
  load: string
  connections: number
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** Events per second, relative to the requests per second of the baseline with the same number of connections. */
  ratio: number
  /** Number of acknowledged events. */
  acknowledged: number
  eventsPerRequest: number
  stored: number
  partsPerSecond: number
  /** CPU time per event in microseconds: of the server, and of ClickHouse including merges. */
  serverUs: number
  clickhouseUs: number
  /** Maximum memory of the server. */
  memoryMb: number
  /** Cores used by other processes than the server, ClickHouse and the load; above 0.1 the machine was not idle. */
  otherCores: number
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
  clickhouseVersion = (await select<{ version: string }>('SELECT version() AS version'))[0]?.version ?? ''
  const profiled = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
  const server = await start([...nodeFlags, ...profiled, join(packageRoot, 'dist/src/main.js'), 'serve', '--json'])
  const empty = await start(['--import', 'tsx', join(packageRoot, 'bench/emptyRoute.ts')])
  await warmUp(urlOf(server), { connections: 512, seconds: 6, key }, warmLoad)
  await warmUp(urlOf(empty), { connections: 512, seconds: 3, key }, warmLoad)
  for (const connections of options.connections.split(',').map(Number)) {
    const baseline = await sendEvents(urlOf(empty), { connections, seconds, run: 'baseline', key }, warmLoad)
    const baselinePerSecond = perSecondOf(baseline)
    baselines.push({
      connections,
      perSecond: Math.round(baselinePerSecond),
      p50Ms: baseline.p50Us / 1000,
      p95Ms: baseline.p95Us / 1000,
      p99Ms: baseline.p99Us / 1000,
    })
    print('empty route', connections, baseline)
    for (const load of loads.filter(
      ({ name, batch }) => only.test(name) && (!batch || connections <= batchConnectionsMax),
    )) {
      const figures = await measure(load, connections, key, server, baselinePerSecond)
      results.push(figures)
    }
  }
} finally {
  await stopPrograms()
  await stores.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

const context = {
  ...provenance(),
  machine: describeMachine('load and engines beside the server'),
  versions: { node: process.version, clickhouse: clickhouseVersion },
  secondsPerLoad: seconds,
  eventsBefore: Number(options.history),
}
console.table(results)
const emptyRoute = baselines.map((baseline) => ({ load: 'empty route', ...baseline }))
await writeResults(options.out, { context, measurements: [...emptyRoute, ...results] })
const wrong = results.filter(
  ({ acknowledged, stored, connections, eventsPerRequest }) =>
    stored < acknowledged || stored > acknowledged + connections * eventsPerRequest,
)
if (wrong.length > 0) throw new Error(`Stored and acknowledged events differ: ${JSON.stringify(wrong)}`)

/** Sends one load and counts its stored events. */
async function measure(
  load: Load,
  connections: number,
  key: string,
  server: Program,
  baselinePerSecond: number,
): Promise<Figures> {
  const eventsPerRequest = load.batch?.events ?? 1
  const batchName = load.batch ? `-${load.batch.format}-${load.batch.events}` : ''
  const run = `${load.attribution}-${load.identifiers}-${load.withIds ? 'ids' : 'none'}-${connections}${batchName}`
  const perSecondMax = load.batch ? 100_000 : 20_000
  if (load.identifiers === 'new') await storeClicks(`${run}-`, Math.round(perSecondMax * (seconds + 2)))
  await resetPeak(server.pid)
  const engine = await enginePid()
  const before = await counts()
  const cpuBeforeMs = [await cpuMs(server.pid), await cpuMs(engine)] as const
  const otherBeforeUs = await otherCpuUs(server.pid, engine)
  const result = await sendEvents(urlOf(server), { connections, seconds, run, key }, load)
  const otherCores = ((await otherCpuUs(server.pid, engine)) - otherBeforeUs) / result.durationUs
  const after = await settledCounts()
  const acknowledged = (result.requests - result.rejected) * eventsPerRequest
  const figures = {
    load: load.name,
    connections,
    perSecond: Math.round(perSecondOf(result) * eventsPerRequest),
    p50Ms: result.p50Us / 1000,
    p95Ms: result.p95Us / 1000,
    p99Ms: result.p99Us / 1000,
    ratio: Math.round(((perSecondOf(result) * eventsPerRequest) / baselinePerSecond) * 1000) / 1000,
    acknowledged,
    eventsPerRequest,
    // The load ends with up to one request in flight per connection: these events are stored without a response.
    stored: after.events - before.events,
    partsPerSecond: Math.round(((after.parts - before.parts) / (result.durationUs / 1e6)) * 10) / 10,
    serverUs: Math.round((1000 * ((await cpuMs(server.pid)) - cpuBeforeMs[0])) / acknowledged),
    clickhouseUs: Math.round((1000 * ((await cpuMs(engine)) - cpuBeforeMs[1])) / acknowledged),
    memoryMb: await peakMb(server.pid),
    otherCores: Math.round(otherCores * 100) / 100,
  }
  print(load.name, connections, result, figures)
  if (result.rejected + result.broken > 0) {
    throw new Error(`${result.rejected} requests were rejected, ${result.broken} connections broke.`)
  }
  return figures
}

function print(name: string, connections: number, result: LoadResult, figures?: Figures): void {
  const rest = figures
    ? `, ${figures.ratio} of the baseline, ${figures.stored} rows for ${figures.acknowledged} responses, ${figures.partsPerSecond} parts/s, ${figures.serverUs} + ${figures.clickhouseUs} µs of CPU, ${figures.memoryMb} MB, ${figures.otherCores} cores used by other processes`
    : ''
  const times = [result.p50Us, result.p95Us, result.p99Us].map((us) => (us / 1000).toFixed(1)).join(' / ')
  console.log(
    `${name}, ${connections} connections: ${figures?.perSecond ?? Math.round(perSecondOf(result))}/s, p50/p95/p99 ${times} ms${rest}`,
  )
}

/** Starts a program on the stores of the bench; it prints its URL in its first line. */
async function start(words: string[]): Promise<Program> {
  return await startProgram(words, { ...process.env, ...settings })
}

/** Creates an account with limits that are checked and never reached, campaigns, clicks and earlier events. */
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

/** Inserts only into the click index, which attribution reads. */
async function storeClicks(prefix: string, count: number): Promise<void> {
  await run(`
    INSERT INTO click_index (account_id, id, clicked_at, campaign_id)
    SELECT '${account}', concat('${prefix}', toString(number)), now64(3), concat('campaign-', toString(number % ${campaigns}))
    FROM numbers(${count + 1})`)
}

/** Every insert creates one part with the next block number. */
async function counts(): Promise<{ events: number; parts: number }> {
  const [rows] = await select<{ events: number }>('SELECT count() AS events FROM pixel_events FINAL')
  const [blocks] = await select<{ last: number }>(`
    SELECT max(max_block_number) AS last FROM system.parts WHERE database = currentDatabase() AND table = 'pixel_events'`)
  return { events: rows?.events ?? 0, parts: blocks?.last ?? 0 }
}

/** Waits until the events in flight at the end of the load are stored. */
async function settledCounts(): Promise<{ events: number; parts: number }> {
  for (let last = await counts(); ; ) {
    await sleep(500)
    const next = await counts()
    if (next.events === last.events) return next
    last = next
  }
}

async function select<Row>(query: string): Promise<Row[]> {
  const settings = { output_format_json_quote_64bit_integers: 0 } as const
  const response = await stores.clickhouse.client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })
  return await response.json<Row>()
}

async function run(query: string): Promise<void> {
  await stores.clickhouse.client.command({ query })
}

async function enginePid(): Promise<number> {
  const pid = await clickhousePid(folder)
  if (pid === undefined) throw new Error('ClickHouse does not run.')
  return pid
}

/** CPU time of this process, and of its children that have exited. */
async function ownCpuUs(): Promise<[own: number, ofChildren: number]> {
  const fields = (await readFile('/proc/self/stat', 'utf8')).split(') ')[1]?.split(' ').map(Number) ?? []
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15)
  return [(user + system) * 10_000, (childrenUser + childrenSystem) * 10_000]
}

/** CPU time of all processes other than the server, ClickHouse, this process and its exited children. */
async function otherCpuUs(server: number, engine: number): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/ +/).slice(1).map(Number)
  const [own, ofLoads] = await ownCpuUs()
  const ours = own + ofLoads + 1000 * ((await cpuMs(server)) + (await cpuMs(engine)))
  return (user + nice + system + irq + softirq) * 10_000 - ours
}
