// Measures the duration of reads by size of the data, and the share of the API in it. bench/README.md explains options and
// output.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { type Fragment, render } from '../src/stores/clickhouse/sql.ts'
import { benchAccount, fillStores, otherAccount, searchedAccount } from './data.ts'
import { copyRows, openPostgresBench, type PostgresBench } from './postgres.ts'
import { clickhousePid, cpuMs, peakMb, resetPeak } from './processes.ts'
import { type ReadQuery, readQueries } from './readQueries.ts'
import { resultsFile, writeResults } from './results.ts'
import { type BenchStores, cacheFolder, openKey, select, serveAtEnd, settled, withStores } from './stores.ts'
import { openClient, rounded, runWrk, type Times, time } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks of the account that is read. */
    size: { type: 'string', default: '10000000' },
    /** Folder of filled stores, which later runs reuse. */
    folder: { type: 'string', default: cacheFolder },
    /** Regular expression that the names of queries must match. */
    only: { type: 'string', default: '' },
    /** Copies the rows to PostgreSQL 15 as a baseline. */
    'with-postgres': { type: 'boolean', default: false },
    connections: { type: 'string', default: '1,16' },
    /** Requests per query on one connection; three times as many on several connections. */
    requests: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
})

interface Run {
  url: string
  /** Process id of ClickHouse. */
  engine: number
  /** API keys by account. */
  keys: Record<string, string>
  stores: BenchStores
  postgres: PostgresBench | undefined
}

/** The common field of counted rows of the API and of baselines. */
interface Counted {
  clicks: number
}

/** Slow baselines run on one connection only, with a third of the requests. */
const slowShare = 1 / 3

const only = new RegExp(options.only)
const size = Number(options.size)
const requests = Number(options.requests)

/** Heavy reports that run at the same time: as many as one account may run (`READS_PER_ACCOUNT`). */
const heavyRunning = 8
/** Reads every click of a year, with millions of groups. */
const heavyPath = '/reports?group_by=sub1,city,referrer_domain&days=365'
const besideHeavy = `country, 30 days, beside ${heavyRunning} heavy reports`

await withStores(join(options.folder, options.size), measure, { LOG_LEVEL: 'silent' })

async function measure(stores: BenchStores): Promise<void> {
  await fillStores(stores, size)
  await settled(stores)
  await setPlanLimits(stores.postgres, 'scale', { requestsPerMinute: 100_000_000 })
  const postgres = options['with-postgres'] ? await openPostgresBench({ fsync: 'off' }) : undefined
  try {
    if (postgres) await copyRows(stores, postgres)
    const keys: Record<string, string> = {}
    for (const account of [benchAccount, otherAccount, searchedAccount]) keys[account] = await openKey(stores, account)
    const server = await serveAtEnd(stores)
    const engine = (await clickhousePid(stores.dataDir)) ?? 0
    const pids = [server.pid, engine]
    for (const pid of pids) await resetPeak(pid)
    const figures: object[] = []
    for (const query of readQueries().filter(({ name }) => only.test(name))) {
      for (const connections of options.connections.split(',').map(Number)) {
        figures.push(await measureQuery(query, connections, { url: server.uncached, engine, keys, stores, postgres }))
      }
    }
    if (only.test('cached report')) {
      const api = runWrk(`${server.cached}/api/v1/reports?group_by=country&days=30`, keys[benchAccount] ?? '')
      figures.push({ query: 'cached report', connections: 16, api })
    }
    if (only.test(besideHeavy)) figures.push(await measureIsolation(server.uncached, keys))
    console.dir(figures, { depth: null })
    const [apiMb, clickhouseMb] = await Promise.all(pids.map(peakMb))
    await writeResults(
      options.out ?? resultsFile(`reads-${size}`),
      {
        beside: 'clients and stores beside the server',
        clicksOfAccount: size,
        bytesPerClick: await bytesPerClick(stores, postgres),
        memory: { apiMb, clickhouseMb },
      },
      figures,
    )
  } finally {
    await postgres?.close()
  }
}

/** Measures the API, then each baseline, and compares their counts. */
async function measureQuery(
  { name, account, path, bare, raw, inPostgres, isCounted }: ReadQuery,
  connections: number,
  { url, engine, keys, stores, postgres }: Run,
): Promise<object> {
  const client = openClient(keys[account] ?? '', connections)
  const load = { requests: requests * (connections > 1 ? 3 : 1), connections }
  const warmUp = { requests: 3 * connections, connections }
  const read = () => client.get(`${url}/api/v1${path}`)
  const response = JSON.parse(await read()) as { totals?: Counted; data: Counted[] }
  await time(read, warmUp)
  const cpuBeforeMs = cpuMs(engine)
  const api = await time(read, load)
  const clickhouseCpuMs = rounded((cpuMs(engine) - cpuBeforeMs) / load.requests)
  client.close()
  const baseline = async (run: () => Promise<object[]>, share: number) => {
    const ours = clicksOf(response.totals ? [response.totals] : response.data)
    const theirs = clicksOf((await run()) as Counted[])
    if (isCounted && ours !== theirs) throw new Error(`${name}: the API counts ${ours} clicks, a baseline ${theirs}.`)
    await time(run, { ...warmUp, requests: Math.ceil(warmUp.requests * share) })
    return await time(run, { ...load, requests: Math.ceil(load.requests * share) })
  }
  const figures: Record<string, unknown> = { query: name, connections, api, clickhouseCpuMs }
  if (bare) figures.bare = await baseline(() => runBare(stores, bare), 1)
  if (connections === 1) {
    if (raw) figures.raw = await baseline(() => runBare(stores, raw), slowShare)
    if (inPostgres && postgres) {
      const { text, values } = inPostgres
      figures.postgres = await baseline(() => postgres.sql.unsafe(text, values, { prepare: true }), slowShare)
    }
  }
  console.log(`${name}, ${connections} connections: p50 ${api.p50Ms} ms`)
  return figures
}

function clicksOf(rows: readonly Counted[]): number {
  return rows.reduce((sum, { clicks }) => sum + clicks, 0)
}

/** Runs a query as the API does, with typed parameters. */
async function runBare(stores: BenchStores, query: Fragment): Promise<object[]> {
  const { text, params } = render(query)
  return await select(stores, text, params)
}

/** Bytes on disk: the rows alone, and with indexes and sums. */
async function bytesPerClick(stores: BenchStores, postgres: PostgresBench | undefined): Promise<object> {
  const clicks = size + 4 * Math.round(size / 10)
  const parts = await select<{ table: string; bytes: number }>(
    stores,
    `SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase()
       AND table IN ('clicks', 'click_index', 'sums_by_day', 'sums_by_day_and_campaign', 'sums_by_quarter_hour')
     GROUP BY table`,
  )
  const [inPostgres] = postgres
    ? await postgres.sql<{ rows: number; all: number }[]>`
        SELECT pg_table_size('clicks')::float8 AS rows, pg_total_relation_size('clicks')::float8 AS all`
    : []
  const all = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    clickhouseRows: rounded((parts.find(({ table }) => table === 'clicks')?.bytes ?? 0) / clicks),
    clickhouseAll: rounded(all / clicks),
    ...(inPostgres && {
      postgresRows: rounded(inPostgres.rows / clicks),
      postgresAll: rounded(inPostgres.all / clicks),
    }),
  }
}

/**
 * Measures a report from sums alone, beside heavy reports of another account, beside them, alone, so that load of other processes is
 * in both.
 */
async function measureIsolation(url: string, keys: Record<string, string>): Promise<object> {
  const client = openClient(keys[otherAccount] ?? '', 1)
  const light = () => client.get(`${url}/api/v1/reports?group_by=country&days=30`)
  const load = { requests, connections: 1 }
  await time(light, { requests: 5, connections: 1 })
  const alone = [await time(light, load)]
  const stopped = new AbortController()
  const { signal } = stopped
  const headers = { authorization: `ApiKey ${keys[benchAccount]}` }
  const heavy = Array.from({ length: heavyRunning }, async () => {
    // With any status; the signal cancels the last ones.
    while (!signal.aborted) {
      await fetch(`${url}/api/v1${heavyPath}`, { headers, signal })
        .then((response) => response.arrayBuffer())
        .catch((error) => signal.aborted || Promise.reject(error))
    }
  })
  // All of them have begun to read.
  await sleep(1_000)
  const beside = [await time(light, load), await time(light, load)]
  stopped.abort()
  await Promise.all(heavy)
  alone.push(await time(light, load))
  client.close()
  const meanOf = (runs: readonly Times[]) => rounded(runs.reduce((sum, { p50Ms }) => sum + p50Ms, 0) / runs.length)
  const [aloneP50Ms, besideP50Ms] = [meanOf(alone), meanOf(beside)]
  return { query: besideHeavy, connections: 1, aloneP50Ms, besideP50Ms, ratio: rounded(besideP50Ms / aloneP50Ms) }
}
