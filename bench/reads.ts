// How long do reads take as data grows, and how much of that is ours? bench/README.md says how to run this and how to
// read it.
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../src/accounts/keys.ts'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { type Fragment, render } from '../src/stores/clickhouse/sql.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { benchAccount, fillStores, searchedAccount } from './data.ts'
import { openPostgresBench, type PostgresBench } from './postgres.ts'
import { clickhousePid, peakMb, resetPeak, startProgram } from './processes.ts'
import { type Question, questions, type Stage, stages } from './questions.ts'
import { openCaller, rounded, type Times, time } from './timing.ts'
import { runWrk } from './wrk.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks of the account that is asked. */
    size: { type: 'string', default: '10000000' },
    /** Where filled stores are kept for the next run. The user `postgres` has to reach it. */
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache') },
    /** Which questions to ask, with commas between; `fill` only fills. */
    stages: { type: 'string', default: stages.join(',') },
    /** Only questions whose name this regular expression finds. */
    only: { type: 'string', default: '' },
    /** Leaves the baseline in PostgreSQL out. */
    'without-postgres': { type: 'boolean', default: false },
    connections: { type: 'string', default: '1,16' },
    /** Requests a question on one connection; on more of them three times as many. */
    requests: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
})

/** One question on so many connections, and the baselines beside it. */
interface Figures {
  question: string
  connections: number
  api: Times
  /** The bare SQL over HTTP to the same ClickHouse: what a perfect API would cost. */
  bare?: Times
  /** The same from the rows themselves, without rollups and indexes of ours. */
  raw?: Times
  /** The same rows and question in PostgreSQL 15. */
  postgres?: Times
  /** What ClickHouse read and computed for one request of the API. */
  rowsRead: number
  bytesRead: number
  clickhouseCpuMs: number
}

/** Baselines that take long are asked on one connection, a third as often. */
const slowShare = 1 / 3

const only = new RegExp(options.only)
const size = Number(options.size)
const dataDir = join(options.folder, options.size)
const out = options.out ?? join(packageRoot, `bench/results/reads-${options.size}.json`)
const wanted = new Set(options.stages.split(','))
const settings = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' }
await mkdir(dataDir, { recursive: true })
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
let postgres: PostgresBench | undefined
try {
  await migrate(stores)
  await fillStores(stores, size, console.log)
  await settled()
  if (!options['without-postgres']) {
    postgres = await openPostgresBench(join(options.folder, `${options.size}-postgres`), stores, console.log)
  }
  if (stages.some((stage) => wanted.has(stage))) await measure()
} finally {
  await postgres?.close()
  await stores.close()
}

async function measure(): Promise<void> {
  const keys = await openAccounts(stores)
  const server = await startProgram(['--import', 'tsx', join(packageRoot, 'bench/readsServer.ts')], {
    ...process.env,
    ...settings,
  })
  const [uncached = '', cached = ''] = server.line.split(' ')
  const engine = await clickhousePid(dataDir)
  try {
    for (const pid of [server.pid, engine]) if (pid !== undefined) await resetPeak(pid)
    for (const stage of stages.filter((name) => wanted.has(name))) {
      const result = stage === 'cached' ? askCached(cached, keys) : await askAll(stage, uncached, keys)
      await keep(
        stage,
        { ...provenance(), ...result },
        {
          apiMb: await peakMb(server.pid),
          clickhouseMb: engine === undefined ? undefined : await peakMb(engine),
        },
      )
    }
  } finally {
    await server.stop()
  }
}

async function askAll(stage: Stage, url: string, keys: Record<string, string>): Promise<{ figures: Figures[] }> {
  const figures: Figures[] = []
  for (const question of questions(stage).filter(({ name }) => only.test(name))) {
    for (const connections of options.connections.split(',').map(Number)) {
      figures.push(await ask(question, connections, url, keys))
    }
  }
  return { figures }
}

function askCached(url: string, keys: Record<string, string>) {
  const times = runWrk(`${url}/api/v1/reports?group_by=country&days=30`, keys[benchAccount] ?? '')
  console.log(`cached report, 16 connections: ${times.perSecond}/s, p50/p99 ${times.p50Ms} / ${times.p99Ms} ms`)
  return times
}

/** Asks the API, then each baseline, and compares what they say. */
async function ask(
  { name, account, path, bare, raw, inPostgres, isCounted }: Question,
  connections: number,
  url: string,
  keys: Record<string, string>,
): Promise<Figures> {
  const caller = openCaller(keys[account] ?? '', connections)
  const requests = Number(options.requests) * (connections > 1 ? 3 : 1)
  const load = { requests, connections }
  const warmUp = { requests: 3 * connections, connections }
  const get = () => caller.get(`${url}/api/v1${path}`)
  const answer = JSON.parse(await get()) as { totals?: Counted; data: Counted[] }
  await time(get, warmUp)
  const before = await engineFigures()
  const api = await time(get, load)
  const after = await engineFigures()
  caller.close()
  const baseline = async (run: () => Promise<unknown[]>, share: number) => {
    const [ours, theirs] = [
      clicksOf(answer.totals ? [answer.totals] : answer.data),
      clicksOf((await run()) as Counted[]),
    ]
    if (isCounted && ours !== theirs) throw new Error(`${name}: the API counts ${ours} clicks, a baseline ${theirs}.`)
    await time(run, { ...warmUp, requests: Math.ceil(warmUp.requests * share) })
    return await time(run, { ...load, requests: Math.ceil(requests * share) })
  }
  const database = postgres
  const isAlone = connections === 1
  const figures: Figures = {
    question: name,
    connections,
    api,
    ...(bare && { bare: await baseline(() => askBare(bare), 1) }),
    ...(isAlone && raw && { raw: await baseline(() => askBare(raw), slowShare) }),
    ...(isAlone && inPostgres && database && { postgres: await baseline(() => database.ask(inPostgres), slowShare) }),
    rowsRead: Math.round((after.rows - before.rows) / requests),
    bytesRead: Math.round((after.bytes - before.bytes) / requests),
    clickhouseCpuMs: rounded((after.cpuUs - before.cpuUs) / requests / 1000),
  }
  say(figures)
  return figures
}

/** What rows of the API and of baselines have in common, where they count. */
interface Counted {
  clicks: number
}

function clicksOf(rows: readonly Counted[]): number {
  return rows.reduce((sum, { clicks }) => sum + clicks, 0)
}

function say({ question, connections, api, bare, raw, postgres, rowsRead, clickhouseCpuMs }: Figures): void {
  const beside = Object.entries({ bare, raw, postgres }).flatMap(([name, times]) =>
    times ? [`${name} ${times.p50Ms} (× ${rounded(times.p50Ms / api.p50Ms)})`] : [],
  )
  console.log(
    `${question}, ${connections} connections: p50/p95/p99 ${api.p50Ms} / ${api.p95Ms} / ${api.p99Ms} ms, ${api.perSecond}/s, ${rowsRead} rows read, ${clickhouseCpuMs} ms CPU; ${beside.join(', ')}`,
  )
}

/** As the API asks it, without the API: over HTTP, with typed parameters, answered as JSON. */
async function askBare(question: Fragment): Promise<unknown[]> {
  const { text, params } = render(question)
  const answer = await stores.clickhouse.client.query({
    query: text,
    query_params: params,
    format: 'JSON',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return (await answer.json<never>()).data
}

/** What the engine read and computed since it started, for everybody. */
async function engineFigures(): Promise<{ rows: number; bytes: number; cpuUs: number }> {
  const answer = await stores.clickhouse.client.query({
    query: `
      SELECT event, value FROM system.events
      WHERE event IN ('SelectedRows', 'SelectedBytes', 'OSCPUVirtualTimeMicroseconds')`,
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ event: string; value: string }>()
  const counterValues = new Map(rows.map(({ event, value }) => [event, Number(value)]))
  return {
    rows: counterValues.get('SelectedRows') ?? 0,
    bytes: counterValues.get('SelectedBytes') ?? 0,
    cpuUs: counterValues.get('OSCPUVirtualTimeMicroseconds') ?? 0,
  }
}

/** Waits until background merges and mutations, which a fill leaves behind, are done. */
async function settled(): Promise<void> {
  const query = `
    SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM system.mutations WHERE NOT is_done) AS n`
  for (;;) {
    const answer = await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })
    if (Number((await answer.json<{ n: string }>())[0]?.n) === 0) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** Keys of the accounts, whose limits are all checked and never reached. */
async function openAccounts({ postgres }: Stores): Promise<Record<string, string>> {
  await setPlanLimits(postgres, 'scale', { requestsPerMinute: 100_000_000 })
  const keys: Record<string, string> = {}
  for (const accountId of [benchAccount, searchedAccount]) {
    const scopes = ['read:reports', 'read:stats', 'read:clicks', 'read:conversions', 'read:campaigns'] as const
    const created = await createKey(postgres, {
      accountId,
      name: 'bench',
      scopes: [...scopes, 'search:conversions'],
      expiresAt: null,
    })
    if (!created) throw new Error(`The account ${accountId} is missing.`)
    keys[accountId] = created.key
  }
  return keys
}

function provenance() {
  return {
    date: new Date().toISOString(),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim(),
  }
}

/** Bytes on disk by table, of all accounts together. */
async function bytesStored(): Promise<Record<string, number>> {
  const answer = await stores.clickhouse.client.query({
    query: `
      SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts
      WHERE active AND database = currentDatabase() AND table != 'schema_migrations'
      GROUP BY table ORDER BY bytes DESC`,
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ table: string; bytes: string }>()
  return Object.fromEntries(rows.map(({ table, bytes }) => [table, Number(bytes)]))
}

/** Adds what a stage found to what others did, in earlier runs too. */
async function keep(stage: Stage, found: object, memory: object): Promise<void> {
  const earlier = JSON.parse(await readFile(out, 'utf8').catch(() => '{}')) as { stages?: object }
  const [cpu] = cpus()
  const clicks = size + 4 * Math.round(size / 10)
  const stored = await bytesStored()
  const ofClicks = ['clicks', 'click_index', 'sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour']
  const report = {
    machine: `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, callers and stores beside the server`,
    versions: {
      node: process.version,
      clickhouse: (await askVersion()) ?? '',
      ...(postgres && { postgres: postgres.version }),
    },
    clicksOfAccount: size,
    clicksOfAll: clicks,
    bytesStored: stored,
    bytesAClick: {
      clickhouseRows: rounded((stored.clicks ?? 0) / clicks),
      clickhouseAll: rounded(ofClicks.reduce((sum, table) => sum + (stored[table] ?? 0), 0) / clicks),
      ...(postgres && { postgresRows: rounded(postgres.rowBytes / clicks) }),
      ...(postgres && { postgresAll: rounded(postgres.allBytes / clicks) }),
    },
    memory,
    stages: { ...earlier.stages, [stage]: found },
  }
  await mkdir(join(out, '..'), { recursive: true })
  await writeFile(out, `${JSON.stringify(report, null, 2)}\n`)
}

async function askVersion(): Promise<string | undefined> {
  const answer = await stores.clickhouse.client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  return (await answer.json<{ version: string }>())[0]?.version
}
