// Measures the duration of reads by size of the data, and the share of the API in it. bench/README.md explains options and
// output.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../src/accounts/keys.ts'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { type Fragment, render } from '../src/stores/clickhouse/sql.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { benchAccount, fillStores, otherAccount, searchedAccount } from './data.ts'
import { measureIsolation } from './isolation.ts'
import { openPostgresBench, type PostgresBench } from './postgres.ts'
import { clickhousePid, peakMb, resetPeak, startProgram } from './processes.ts'
import { type ReadQuery, readQueries, type Stage, stages } from './readQueries.ts'
import { describeMachine, provenance, readMeasurements, writeResults } from './results.ts'
import { openClient, rounded, type Times, time } from './timing.ts'
import { runWrk } from './wrk.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks of the account that is read. */
    size: { type: 'string', default: '10000000' },
    /** Folder of filled stores, which later runs reuse. The user `postgres` needs access to it. */
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache') },
    /** Groups of queries to measure, comma-separated; `fill` only fills the stores. */
    stages: { type: 'string', default: stages.join(',') },
    /** Regular expression that the names of queries must match. */
    only: { type: 'string', default: '' },
    /** Omits the baseline in PostgreSQL. */
    'without-postgres': { type: 'boolean', default: false },
    connections: { type: 'string', default: '1,16' },
    /** Requests per query on one connection; three times as many on several connections. */
    requests: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
})

/** The measurement of one query, with its baselines. */
interface Figures {
  query: string
  connections: number
  api: Times
  /** The bare SQL over HTTP on the same ClickHouse: the duration without an API. */
  bare?: Times
  /** The same from the rows, without sums tables and indexes. */
  raw?: Times
  /** The same rows and query in PostgreSQL 15. */
  postgres?: Times
  /** Rows, bytes and CPU time of ClickHouse per request of the API. */
  rowsRead: number
  bytesRead: number
  clickhouseCpuMs: number
}

/** Slow baselines run on one connection only, with a third of the requests. */
const slowShare = 1 / 3

const only = new RegExp(options.only)
const size = Number(options.size)
const dataDir = join(options.folder, options.size)
const out = options.out ?? join(packageRoot, `bench/results/reads-${options.size}.ndjson`)
const selected = new Set(options.stages.split(','))
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
  if (stages.some((stage) => selected.has(stage))) await measure()
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
    for (const stage of stages.filter((name) => selected.has(name))) {
      const figures = await measureFigures(stage, { uncached, cached }, keys)
      await save(stage, figures, {
        apiMb: await peakMb(server.pid),
        clickhouseMb: engine === undefined ? undefined : await peakMb(engine),
      })
    }
  } finally {
    await server.stop()
  }
}

async function measureFigures(
  stage: Stage,
  urls: { uncached: string; cached: string },
  keys: Record<string, string>,
): Promise<object[]> {
  if (stage === 'cached') return [measureCached(urls.cached, keys)]
  if (stage !== 'isolation') return await measureStage(stage, urls.uncached, keys)
  const accounts = { heavy: keys[benchAccount] ?? '', light: keys[otherAccount] ?? '' }
  const figures = await measureIsolation(urls.uncached, accounts, Number(options.requests))
  const { query, alone, api, ratio, heavyResponses } = figures
  console.log(`${query}: p50 ${alone.p50Ms} → ${api.p50Ms} ms (× ${ratio}); heavy: ${JSON.stringify(heavyResponses)}`)
  return [figures]
}

async function measureStage(stage: Stage, url: string, keys: Record<string, string>): Promise<Figures[]> {
  const figures: Figures[] = []
  for (const query of readQueries(stage).filter(({ name }) => only.test(name))) {
    for (const connections of options.connections.split(',').map(Number)) {
      figures.push(await measureQuery(query, connections, url, keys))
    }
  }
  return figures
}

function measureCached(url: string, keys: Record<string, string>) {
  const times = runWrk(`${url}/api/v1/reports?group_by=country&days=30`, keys[benchAccount] ?? '')
  console.log(`cached report, 16 connections: ${times.perSecond}/s, p50/p99 ${times.p50Ms} / ${times.p99Ms} ms`)
  return { query: 'cached report', connections: 16, api: times }
}

/** Measures the API, then each baseline, and compares their counts. */
async function measureQuery(
  { name, account, path, bare, raw, inPostgres, isCounted }: ReadQuery,
  connections: number,
  url: string,
  keys: Record<string, string>,
): Promise<Figures> {
  const client = openClient(keys[account] ?? '', connections)
  const requests = Number(options.requests) * (connections > 1 ? 3 : 1)
  const load = { requests, connections }
  const warmUp = { requests: 3 * connections, connections }
  const get = () => client.get(`${url}/api/v1${path}`)
  const response = JSON.parse(await get()) as { totals?: Counted; data: Counted[] }
  await time(get, warmUp)
  const before = await engineCounters()
  const api = await time(get, load)
  const after = await engineCounters()
  client.close()
  const baseline = async (run: () => Promise<unknown[]>, share: number) => {
    const [ours, theirs] = [
      clicksOf(response.totals ? [response.totals] : response.data),
      clicksOf((await run()) as Counted[]),
    ]
    if (isCounted && ours !== theirs) throw new Error(`${name}: the API counts ${ours} clicks, a baseline ${theirs}.`)
    await time(run, { ...warmUp, requests: Math.ceil(warmUp.requests * share) })
    return await time(run, { ...load, requests: Math.ceil(requests * share) })
  }
  const database = postgres
  const isAlone = connections === 1
  const figures: Figures = {
    query: name,
    connections,
    api,
    ...(bare && { bare: await baseline(() => runBare(bare), 1) }),
    ...(isAlone && raw && { raw: await baseline(() => runBare(raw), slowShare) }),
    ...(isAlone && inPostgres && database && { postgres: await baseline(() => database.run(inPostgres), slowShare) }),
    rowsRead: Math.round((after.rows - before.rows) / requests),
    bytesRead: Math.round((after.bytes - before.bytes) / requests),
    clickhouseCpuMs: rounded((after.cpuUs - before.cpuUs) / requests / 1000),
  }
  print(figures)
  return figures
}

/** The common field of counted rows of the API and of baselines. */
interface Counted {
  clicks: number
}

function clicksOf(rows: readonly Counted[]): number {
  return rows.reduce((sum, { clicks }) => sum + clicks, 0)
}

function print({ query, connections, api, bare, raw, postgres, rowsRead, clickhouseCpuMs }: Figures): void {
  const baselines = Object.entries({ bare, raw, postgres }).flatMap(([name, times]) =>
    times ? [`${name} ${times.p50Ms} (× ${rounded(times.p50Ms / api.p50Ms)})`] : [],
  )
  console.log(
    `${query}, ${connections} connections: p50/p95/p99 ${api.p50Ms} / ${api.p95Ms} / ${api.p99Ms} ms, ${api.perSecond}/s, ${rowsRead} rows read, ${clickhouseCpuMs} ms CPU; ${baselines.join(', ')}`,
  )
}

/** Runs a query as the API does, over HTTP with typed parameters. @returns its rows, read as JSON */
async function runBare(query: Fragment): Promise<unknown[]> {
  const { text, params } = render(query)
  const response = await stores.clickhouse.client.query({
    query: text,
    query_params: params,
    format: 'JSON',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return (await response.json<never>()).data
}

/** Rows, bytes and CPU time of all queries of the engine since its start. */
async function engineCounters(): Promise<{ rows: number; bytes: number; cpuUs: number }> {
  const response = await stores.clickhouse.client.query({
    query: `
      SELECT event, value FROM system.events
      WHERE event IN ('SelectedRows', 'SelectedBytes', 'OSCPUVirtualTimeMicroseconds')`,
    format: 'JSONEachRow',
  })
  const rows = await response.json<{ event: string; value: string }>()
  const counterValues = new Map(rows.map(({ event, value }) => [event, Number(value)]))
  return {
    rows: counterValues.get('SelectedRows') ?? 0,
    bytes: counterValues.get('SelectedBytes') ?? 0,
    cpuUs: counterValues.get('OSCPUVirtualTimeMicroseconds') ?? 0,
  }
}

/** Waits until the background merges and mutations after a fill have finished. */
async function settled(): Promise<void> {
  const query = `
    SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM system.mutations WHERE NOT is_done) AS n`
  for (;;) {
    const response = await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })
    if (Number((await response.json<{ n: string }>())[0]?.n) === 0) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** Creates keys of the accounts, with limits that are checked and never reached. */
async function openAccounts({ postgres }: Stores): Promise<Record<string, string>> {
  await setPlanLimits(postgres, 'scale', { requestsPerMinute: 100_000_000 })
  const keys: Record<string, string> = {}
  for (const accountId of [benchAccount, otherAccount, searchedAccount]) {
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

/** Bytes on disk of all accounts, by table. */
async function bytesStored(): Promise<Record<string, number>> {
  const response = await stores.clickhouse.client.query({
    query: `
      SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts
      WHERE active AND database = currentDatabase() AND table != 'schema_migrations'
      GROUP BY table ORDER BY bytes DESC`,
    format: 'JSONEachRow',
  })
  const rows = await response.json<{ table: string; bytes: string }>()
  return Object.fromEntries(rows.map(({ table, bytes }) => [table, Number(bytes)]))
}

/** Writes the measurements of a stage; those of other stages stay in the file. */
async function save(stage: Stage, figures: readonly object[], memory: object): Promise<void> {
  const earlier = await readMeasurements<{ stage: Stage }>(out)
  const clicks = size + 4 * Math.round(size / 10)
  const stored = await bytesStored()
  const ofClicks = ['clicks', 'click_index', 'sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour']
  const context = {
    machine: describeMachine('clients and stores beside the server'),
    versions: {
      node: process.version,
      clickhouse: (await clickhouseVersion()) ?? '',
      ...(postgres && { postgres: postgres.version }),
    },
    clicksOfAccount: size,
    clicksOfAll: clicks,
    bytesStored: stored,
    bytesPerClick: {
      clickhouseRows: rounded((stored.clicks ?? 0) / clicks),
      clickhouseAll: rounded(ofClicks.reduce((sum, table) => sum + (stored[table] ?? 0), 0) / clicks),
      ...(postgres && { postgresRows: rounded(postgres.rowBytes / clicks) }),
      ...(postgres && { postgresAll: rounded(postgres.allBytes / clicks) }),
    },
    memory,
  }
  const measured = figures.map((figure) => ({ stage, ...provenance(), ...figure }))
  await writeResults(out, { context, measurements: [...earlier.filter((one) => one.stage !== stage), ...measured] })
}

async function clickhouseVersion(): Promise<string | undefined> {
  const response = await stores.clickhouse.client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  return (await response.json<{ version: string }>())[0]?.version
}
