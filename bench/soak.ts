// Does anything grow while the server works for long? A steady mix of events and reads; memory, open files, parts and
// latency are compared between an early and the last part of the run.
//   npm run soak -- --minutes 20
// Reads of one account come to the same few questions, so most reports are answered from memory, as with dashboards.
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { cpus, tmpdir } from 'node:os'
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

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    /** Events a second; each has an id that was never seen, and every tenth is sent twice. */
    events: { type: 'string', default: '300' },
    /** Reads a second, over ten questions. */
    reads: { type: 'string', default: '40' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/soak.json') },
  },
})

/** By the early part every cache of fixed size is full. */
const parts = { early: [0.3, 0.4], last: [0.9, 1] } as const
const sampleMs = 5_000
/** What may be more at the end without being called growth: chance, and pages that an allocator keeps. */
const tolerances: [name: RegExp, factor: number, more: number][] = [
  [/Mb$/, 1.15, 16],
  [/Handles$/, 1.15, 16],
  [/^parts/, 1.5, 20],
  [/Ms$/, 1.5, 20],
]

/** What is looked at, each a number that must not grow. */
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
const taken: { atMs: number; kind: 'event' | 'read'; ms: number }[] = []
const wrong: string[] = []
let answered = 0

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
  if (code !== 0) wrong.push(`The server ended with ${code}.`)
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
console.log(`${answered} answers of 200, ${wrong.length} others. Grown: ${grown.join(', ') || 'nothing'}.`)
for (const line of wrong.slice(0, 20)) console.log(`  ${line}`)
await writeFile(
  options.out,
  `${JSON.stringify(
    {
      date: new Date().toISOString(),
      commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim(),
      machine: `${cpus().length} × ${cpus()[0]?.model}, the load and both engines beside the server`,
      node: process.version,
      minutes: Number(options.minutes),
      eventsPerSecond: Number(options.events),
      readsPerSecond: Number(options.reads),
      answered,
      others: wrong.length,
      early,
      last,
      grown,
      // Whether what grew levelled off.
      tenths: Array.from({ length: 10 }, (_, tenth) => figuresOf([tenth / 10, (tenth + 1) / 10])),
    },
    null,
    2,
  )}\n`,
)
if (grown.length > 0 || wrong.length > 0) process.exitCode = 1

/** Sends at a steady pace, whether or not earlier ones were answered, and notes how long each answer took. */
async function send(startedMs: number, kind: 'event' | 'read', perSecond: number, key: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const target: Target = { port: Number(environment.PORT), isDown: () => false }
  const underWay = new Set<Promise<void>>()
  for (let number = 0; performance.now() - startedMs < runMs; number++) {
    const dueMs = startedMs + (number * 1000) / perSecond
    if (dueMs > performance.now()) await sleep(dueMs - performance.now())
    const asked = askOne(number).finally(() => underWay.delete(asked))
    underWay.add(asked)
  }
  await Promise.all(underWay)
  agent.destroy()

  async function askOne(number: number): Promise<void> {
    const sentMs = performance.now()
    const id = `soak-${number % 10 === 9 ? number - 1 : number}`
    const event = { click_id: `click-${number % clickCount}`, event_name: 'paid', event_id: id }
    const question =
      kind === 'event'
        ? ({ method: 'POST', path: '/api/v1/events', key, body: JSON.stringify(event) } as const)
        : ({ method: 'GET', path: readPaths[number % readPaths.length] ?? '', key } as const)
    const answer = await sendRequest(agent, target, question)
    if (answer?.status === 200) answered += 1
    else wrong.push(`${kind} ${number}: ${answer ? `${answer.status} ${answer.body}` : 'no answer'}`)
    taken.push({ atMs: sentMs - startedMs, kind, ms: performance.now() - sentMs })
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

/** The median of each figure over a part of the run; of latencies the quantile that they are named after. */
function figuresOf([from, to]: readonly [number, number]): Figures {
  const within = ({ atMs }: { atMs: number }) => atMs >= from * runMs && atMs < to * runMs + sampleMs
  const median = (name: keyof Figures) =>
    quantile(
      samples.filter(within).map((one) => one[name] ?? 0),
      0.5,
    )
  const latency = (kind: 'event' | 'read', share: number) =>
    quantile(
      taken.filter((one) => one.kind === kind && within(one)).map(({ ms }) => ms),
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

/** What a process holds in memory that is not a file's. */
async function memoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
}

async function handles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Parts that readers see; merged ones are removed some minutes later. */
async function partsOfEvents(): Promise<number> {
  const answer = await stores.clickhouse.client.query({
    query: `SELECT count() AS parts FROM system.parts WHERE active AND table = 'pixel_events'`,
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ parts: string }>()
  return Number(row?.parts)
}

/** @param program an engine of this run's folder */
function pidOf(program: 'clickhouse/engine' | 'postgres/engine'): number {
  const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const line = lines.find((candidate) => candidate.endsWith(`/embedded/${program}.js ${folder}`))
  if (!line) throw new Error(`There is no ${program}.`)
  return Number.parseInt(line, 10)
}
