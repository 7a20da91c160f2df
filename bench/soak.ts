// Sends a steady load of events and reads, and compares memory, open files, parts and latency between an early and the last
// part of the run.
//   npm run bench -- soak --minutes 20
// The reads repeat a few queries of one account, so most responses come from the cache, as with dashboards.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { sendRequest, type Target } from '../test/faults/httpRequest.ts'
import { clickCount, createLoadAccount, readPaths } from '../test/faults/loadAccount.ts'
import { freePort } from '../test/kit/serverProcess.ts'
import { startProgram, stopPrograms } from './processes.ts'
import { describeMachine, provenance, writeResults } from './results.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    /** Events per second; each has a new id, and every tenth is sent twice. */
    events: { type: 'string', default: '300' },
    /** Reads per second, of ten queries. */
    reads: { type: 'string', default: '40' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/soak.ndjson') },
  },
})

/** Parts of the run to compare; in the early one all caches of fixed size are full. */
const parts = { early: [0.3, 0.4], last: [0.9, 1] } as const
const sampleMs = 5_000
/** Tolerated growth: noise, and pages that the allocator does not return. */
const tolerances: [name: RegExp, factor: number, more: number][] = [
  [/Mb$/, 1.15, 16],
  [/Handles$/, 1.15, 16],
  [/^parts/, 1.5, 20],
  [/Ms$/, 1.5, 20],
]

/** The observed values, which must not grow. */
interface Figures {
  serverMb: number
  serverHandles: number
  clickhouseMb: number
  clickhouseHandles: number
  postgresMb: number
  postgresHandles: number
  partsOfEvents: number
  eventP50Ms: number
  eventP99Ms: number
  readP50Ms: number
  readP99Ms: number
}

const runMs = Number(options.minutes) * 60_000
const folder = await mkdtemp(join(tmpdir(), 'tributary-soak-'))
const environment = { DATA_DIR: folder, PORT: `${await freePort()}`, LOG_LEVEL: 'warn' }
const stores = await openStores(readSettings(environment), ({ message }) => console.error(message))
const samples: (Partial<Figures> & { atMs: number })[] = []
const durations: { atMs: number; kind: 'event' | 'read'; ms: number }[] = []
const wrong: string[] = []
let succeeded = 0

try {
  await migrate(stores)
  const key = await createLoadAccount(stores)
  const server = await startProgram([join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
    PATH: process.env.PATH,
    ...environment,
  })
  const startedMs = performance.now()
  const sampling = sample(startedMs, server.pid)
  await Promise.all([
    send(startedMs, 'event', Number(options.events), key),
    send(startedMs, 'read', Number(options.reads), key),
    sampling,
  ])
  const code = await server.stop('SIGTERM')
  if (code !== 0) wrong.push(`The server exited with ${code}.`)
} finally {
  await stopPrograms()
  await stores.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

const [early, last] = [figuresOf(parts.early), figuresOf(parts.last)]
const names = Object.keys(early) as (keyof Figures)[]
const grown = names.filter((name) => {
  const [, factor, more] = tolerances.find(([pattern]) => pattern.test(name)) ?? ['', 1, 0]
  return last[name] > early[name] * factor + more
})
console.table(names.map((figure) => ({ figure, early: early[figure], last: last[figure] })))
console.log(`${succeeded} responses with 200, ${wrong.length} others. Grown: ${grown.join(', ') || 'nothing'}.`)
for (const line of wrong.slice(0, 20)) console.log(`  ${line}`)
const context = {
  ...provenance(),
  machine: describeMachine('load and engines beside the server'),
  node: process.version,
  minutes: Number(options.minutes),
  eventsPerSecond: Number(options.events),
  readsPerSecond: Number(options.reads),
  succeeded,
  others: wrong.length,
  grown,
}
const tenths = Array.from({ length: 10 }, (_, tenth) => ({
  part: `tenth ${tenth + 1}`,
  ...figuresOf([tenth / 10, (tenth + 1) / 10]),
}))
await writeResults(options.out, {
  context,
  measurements: [{ part: 'early', ...early }, { part: 'last', ...last }, ...tenths],
})
if (grown.length > 0 || wrong.length > 0) process.exitCode = 1

/** Sends requests at a steady rate, independent of responses, and records the duration of each. */
async function send(startedMs: number, kind: 'event' | 'read', perSecond: number, key: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const target: Target = { port: Number(environment.PORT), isDown: () => false }
  const inFlight = new Set<Promise<void>>()
  for (let number = 0; performance.now() - startedMs < runMs; number++) {
    const dueMs = startedMs + (number * 1000) / perSecond
    if (dueMs > performance.now()) await sleep(dueMs - performance.now())
    const sent = sendOne(number).finally(() => inFlight.delete(sent))
    inFlight.add(sent)
  }
  await Promise.all(inFlight)
  agent.destroy()

  async function sendOne(number: number): Promise<void> {
    const sentMs = performance.now()
    const id = `soak-${number % 10 === 9 ? number - 1 : number}`
    const event = { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: id }
    const request =
      kind === 'event'
        ? ({ method: 'POST', path: '/api/v1/events', key, body: JSON.stringify(event) } as const)
        : ({ method: 'GET', path: readPaths[number % readPaths.length] ?? '', key } as const)
    const response = await sendRequest(agent, target, request)
    if (response?.status === 200) succeeded += 1
    else wrong.push(`${kind} ${number}: ${response ? `${response.status} ${response.body}` : 'no response'}`)
    durations.push({ atMs: sentMs - startedMs, kind, ms: performance.now() - sentMs })
  }
}

async function sample(startedMs: number, serverPid: number): Promise<void> {
  while (performance.now() - startedMs < runMs) {
    await sleep(sampleMs)
    const [clickhousePid, postgresPid] = [pidOf('clickhouse/engine'), pidOf('postgres/engine')]
    samples.push({
      atMs: performance.now() - startedMs,
      serverMb: await memoryMb(serverPid),
      serverHandles: await handles(serverPid),
      clickhouseMb: await memoryMb(clickhousePid),
      clickhouseHandles: await handles(clickhousePid),
      postgresMb: await memoryMb(postgresPid),
      postgresHandles: await handles(postgresPid),
      partsOfEvents: await partsOfEvents(),
    })
  }
}

/** The median of each value over a part of the run; of latencies the named quantile. */
function figuresOf([from, to]: readonly [number, number]): Figures {
  const within = ({ atMs }: { atMs: number }) => atMs >= from * runMs && atMs < to * runMs + sampleMs
  const median = (name: keyof Figures) =>
    quantile(
      samples.filter(within).map((one) => one[name] ?? 0),
      0.5,
    )
  const latency = (kind: 'event' | 'read', share: number) =>
    quantile(
      durations.filter((one) => one.kind === kind && within(one)).map(({ ms }) => ms),
      share,
    )
  return {
    serverMb: median('serverMb'),
    serverHandles: median('serverHandles'),
    clickhouseMb: median('clickhouseMb'),
    clickhouseHandles: median('clickhouseHandles'),
    postgresMb: median('postgresMb'),
    postgresHandles: median('postgresHandles'),
    partsOfEvents: median('partsOfEvents'),
    eventP50Ms: latency('event', 0.5),
    eventP99Ms: latency('event', 0.99),
    readP50Ms: latency('read', 0.5),
    readP99Ms: latency('read', 0.99),
  }
}

function quantile(values: number[], share: number): number {
  const sorted = values.sort((one, other) => one - other)
  return Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10
}

/** Anonymous memory of a process. */
async function memoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
}

async function handles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Active parts; ClickHouse removes merged ones some minutes later. */
async function partsOfEvents(): Promise<number> {
  const response = await stores.clickhouse.client.query({
    query: `SELECT count() AS parts FROM system.parts WHERE active AND table = 'pixel_events'`,
    format: 'JSONEachRow',
  })
  const [row] = await response.json<{ parts: string }>()
  return Number(row?.parts)
}

/** @returns the process id of an engine of this run */
function pidOf(program: 'clickhouse/engine' | 'postgres/engine'): number {
  const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const line = lines.find((candidate) => candidate.endsWith(`/embedded/${program}.js ${folder}`))
  if (!line) throw new Error(`${program} does not run.`)
  return Number.parseInt(line, 10)
}
