// Measures `tributary feed` at a rate: rows of many accounts over HTTP, a tenth of them repeated, beside reports. bench/README.md
// explains options and output.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { feedPrefix, fillFeed } from './data.ts'
import { Probes, probeMs, Rows, Sender } from './feedLoad.ts'
import { busyCores, clickhousePid, cpuMs, enginePid, residentMb, urlOf } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import {
  type BenchStores,
  cacheFolder,
  countOf,
  openKey,
  select,
  serve,
  settled,
  startFeed,
  withStores,
} from './stores.ts'
import { type HttpClient, openClient, quantile, rounded, time } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks that the store has before. */
    clicks: { type: 'string', default: '10000000' },
    /** Accounts of the store; a tenth of them have half of its clicks. */
    'all-accounts': { type: 'string', default: '5000' },
    /** Accounts whose rows are sent: the first ones. */
    accounts: { type: 'string', default: '500,5000' },
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    /** Seconds before the measurement, in which filters are filled. */
    warm: { type: 'string', default: '20' },
    folder: { type: 'string', default: cacheFolder },
    out: { type: 'string' },
  },
})

const clicks = Number(options.clicks)
const rate = Number(options.rate)
const seconds = Number(options.seconds)
/** CPU time per row is level after two minutes. */
const baselineS = Math.min(seconds, 120)
const warmS = Number(options.warm)
const rowsPerRequest = 500
/** One request in so many is looked for: four a second. */
const probedRequests = Math.ceil(rate / rowsPerRequest / 4)
const repeatedShare = 0.1
/** Repeated rows are of the rows of so many seconds. */
const repeatableS = 20
const token = 'x'.repeat(32)

const busyBefore = await busyCores()
const folder = join(options.folder, `feed-${clicks}`)
await withStores(folder, measure, { LOG_LEVEL: 'error', FEED_TOKEN: token, FEED_PORT: `${await freePort()}` })

async function measure(stores: BenchStores): Promise<void> {
  await fillFeed(stores, Number(options['all-accounts']), clicks)
  await settled(stores)
  await setPlanLimits(stores.postgres, 'scale', { requestsPerMinute: 100_000_000 })
  const reports = await openReports(stores)
  const alone = await time((number) => reports.read(number), { requests: 100, connections: 1 })
  const measurements: object[] = [{ run: 'reports alone', reportP50Ms: alone.p50Ms, reportP99Ms: alone.p99Ms }]
  console.log(measurements[0])
  for (const accounts of options.accounts.split(',').map(Number)) {
    const baseline = await runFeed(stores, { accounts, seconds: baselineS, repeated: 0 })
    const whole = await runFeed(stores, { accounts, seconds, repeated: repeatedShare, reports })
    const figures = { ...whole, ofBaseline: rounded(whole.cpuUs.all / baseline.cpuUs.all) }
    console.dir([baseline, figures])
    measurements.push(baseline, figures)
  }
  reports.close()
  const file = options.out ?? resultsFile('feed')
  await writeResults(file, { beside: 'stores, sender and API beside the feed', clicks, rate, busyBefore }, measurements)
}

interface Reports {
  /** Reads a report of account number `number`. */
  read(number: number): Promise<unknown>
  close(): void
}

async function openReports(stores: BenchStores): Promise<Reports> {
  const clients: HttpClient[] = []
  for (let n = 1; n <= 50; n++) clients.push(openClient(await openKey(stores, `${feedPrefix}${n}`), 1))
  const url = urlOf(await serve(stores))
  // Each report of an account has another query, so that no response is cached.
  const read = (number: number) =>
    clients[number % clients.length]?.get(
      `${url}/api/v1/reports?group_by=country&days=${30 - (Math.floor(number / clients.length) % 20)}`,
    )
  return { read: async (number) => read(number), close: () => clients.map((client) => client.close()) }
}

interface Run {
  accounts: number
  seconds: number
  repeated: number
  reports?: Reports
}

async function runFeed(stores: BenchStores, { accounts, seconds, repeated, reports }: Run) {
  const program = await startFeed(stores)
  const pids = {
    feed: program.pid,
    clickhouse: (await clickhousePid(stores.dataDir)) ?? 0,
    postgres: (await enginePid('postgres', stores.dataDir)) ?? 0,
  }
  const storedBefore = await countOf(stores, 'clicks')
  const rows = new Rows(accounts, repeated, repeatableS * rate)
  const sender = new Sender(urlOf(program), token)
  const visible = new Probes(stores)
  const sampled = { memoryMb: [] as number[], parts: [] as number[], reportsMs: [] as number[] }
  let startedMs = performance.now()
  let before = usageOf(pids)
  let sentBefore = 0
  let isMeasured = false
  let failedReports = 0
  const end = new AbortController()
  const everySecond = repeat(1_000, end.signal, async (number) => {
    sampled.memoryMb.push(await residentMb(pids.feed))
    sampled.parts.push(await partsOf(stores))
    if (!reports) return
    const readMs = performance.now()
    const isRead = await reports.read(number).then(
      () => true,
      () => false,
    )
    if (!isMeasured) return
    if (isRead) sampled.reportsMs.push(performance.now() - readMs)
    else failedReports += 1
  })
  const probing = repeat(probeMs, end.signal, () => visible.look())
  // Thrown at the end of the run, so that the programs are stopped.
  for (const running of [everySecond, probing]) running.catch(() => {})
  const intervalMs = (1_000 * rowsPerRequest) / rate
  const requests = Math.round(((warmS + seconds) * 1_000) / intervalMs)
  const beganMs = performance.now()
  for (let number = 0; number < requests; number++) {
    if (!isMeasured && number * intervalMs >= warmS * 1_000) {
      isMeasured = true
      ;[startedMs, before, sentBefore] = [performance.now(), usageOf(pids), sender.sent]
      sampled.memoryMb.length = 0
      sampled.parts.length = 0
    }
    const waitMs = beganMs + number * intervalMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    await sender.hasRoom()
    const { body, last } = rows.next(rowsPerRequest)
    if (isMeasured && number % probedRequests === 0) visible.add(last)
    sender.send(body, rowsPerRequest, isMeasured)
  }
  const sentS = (performance.now() - startedMs) / 1_000
  const sent = sender.sent - sentBefore
  await sender.ended()
  const tookS = (performance.now() - startedMs) / 1_000
  const usage = usageOf(pids)
  await visible.ended()
  end.abort()
  await Promise.all([everySecond, probing])
  if ((await program.stop('SIGTERM')) !== 0) throw new Error('The feed failed.')
  const stored = (await countOf(stores, 'clicks')) - storedBefore
  if (sender.results.rejected) throw new Error(`${sender.results.rejected} rows were rejected.`)
  if (stored !== rows.clicks) throw new Error(`${stored} clicks are stored, ${rows.clicks} were sent.`)
  const us = (name: keyof typeof pids) => rounded(((usage[name] - before[name]) * 1_000) / sent)
  const used = Object.keys(pids) as (keyof typeof pids)[]
  const all = used.reduce((sum, name) => sum + usage[name] - before[name], 0)
  return {
    run: repeated > 0 ? 'with repetitions and reports' : 'baseline',
    accounts,
    sentPerSecond: Math.round(sent / sentS),
    visibleP50Ms: rounded(quantile(visible.timesMs, 0.5)),
    visibleP99Ms: rounded(quantile(visible.timesMs, 0.99)),
    resultP50Ms: rounded(quantile(sender.timesMs, 0.5)),
    resultP99Ms: rounded(quantile(sender.timesMs, 0.99)),
    cpuUs: {
      feed: us('feed'),
      clickhouse: us('clickhouse'),
      postgres: us('postgres'),
      all: rounded((all * 1_000) / sent),
    },
    cores: rounded(all / 1_000 / tookS),
    memoryMb: thirdsOf(sampled.memoryMb),
    parts: thirdsOf(sampled.parts),
    ...(reports && {
      reportP50Ms: rounded(quantile(sampled.reportsMs, 0.5)),
      reportP99Ms: rounded(quantile(sampled.reportsMs, 0.99)),
      failedReports,
    }),
    results: sender.results,
    retries: sender.retries,
  }
}

/** Runs a step again and again, at most once per interval, until the signal aborts. */
async function repeat(ms: number, signal: AbortSignal, step: (number: number) => Promise<void>): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const nextMs = performance.now() + ms
    await step(number)
    await sleep(Math.max(0, nextMs - performance.now()))
  }
}

function usageOf<Name extends string>(pids: Record<Name, number>): Record<Name, number> {
  return Object.fromEntries(Object.entries<number>(pids).map(([name, pid]) => [name, cpuMs(pid)])) as Record<
    Name,
    number
  >
}

async function partsOf(stores: BenchStores): Promise<number> {
  const query = 'SELECT count() AS parts FROM system.parts WHERE active AND database = currentDatabase()'
  return (await select<{ parts: number }>(stores, query))[0]?.parts ?? 0
}

/** @returns the means of the first, second and last third, and the largest value */
function thirdsOf(values: readonly number[]): number[] {
  const third = values.length / 3
  const mean = (some: readonly number[]) => Math.round(some.reduce((sum, value) => sum + value, 0) / some.length)
  return [0, 1, 2].map((n) => mean(values.slice(n * third, (n + 1) * third))).concat(Math.max(...values))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
