// Measures tributary-sync into PostgreSQL 15 or DuckDB: clicks per second of a first copy, relative to COPY of the same rows from a
// file into the same table with the same indexes; and the peak memory of the process. bench/README.md explains options and output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { packageRoot } from '../src/package.ts'
import { advanceWatermarks } from '../test/kit/rows.ts'
import { benchAccount, fillClicks } from './data.ts'
import { openPostgresBench, type PostgresBench, runPsql } from './postgres.ts'
import { peakMb, urlOf } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import { openKey, serve, settled, withStores } from './stores.ts'
import { rounded, secondsSince } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-sync' },
    clicks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    database: { type: 'string', default: 'postgres' },
    out: { type: 'string' },
  },
})

const clicks = Number(options.clicks)
await withStores(join(options.folder, 'stores'), async (stores) => {
  await fillClicks(stores, benchAccount, clicks)
  await advanceWatermarks(stores, benchAccount)
  await settled(stores)
  const key = await openKey(stores, benchAccount)
  const url = urlOf(await serve(stores))
  const isDuckdb = options.database === 'duckdb'
  const rounds = isDuckdb ? await measureDuckdb(url, key) : await measurePostgres(url, key)
  console.table(rounds)
  const beside = `stores, API and ${isDuckdb ? 'DuckDB' : 'PostgreSQL 15'} beside tributary-sync`
  const file = options.out ?? resultsFile(isDuckdb ? 'sync-duckdb' : 'sync')
  await writeResults(file, { beside, clicks }, rounds)
})

async function measurePostgres(url: string, key: string): Promise<object[]> {
  const target = await openPostgresBench()
  const rounds: object[] = []
  try {
    for (let round = 0; round < Number(options.rounds); round++) rounds.push(await runRound(target, url, key))
  } finally {
    await target.close()
  }
  return rounds
}

async function measureDuckdb(url: string, key: string): Promise<object[]> {
  const names = ['copy.duckdb', 'plain.duckdb', 'clicks.parquet']
  const [file, plain, rows] = names.map((name) => join(options.folder, name)) as [string, string, string]
  const rounds: object[] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const each of [file, plain]) await rm(each, { force: true })
    const synced = await runSync(file, url, key)
    const instance = await DuckDBInstance.create(file)
    const connection = await instance.connect()
    await connection.run(`COPY tributary.clicks TO '${rows}'`)
    await connection.run(`ATTACH '${plain}' AS plain`)
    await connection.run('CREATE TABLE plain.copied AS FROM tributary.clicks LIMIT 0')
    await connection.run('CHECKPOINT plain')
    const startedMs = performance.now()
    await connection.run(`COPY plain.copied FROM '${rows}'`)
    await connection.run('CHECKPOINT plain')
    rounds.push(figures(synced, secondsSince(startedMs)))
    const found = await connection.runAndReadAll('SELECT count(*)::int FROM plain.copied')
    if (found.getRows()[0]?.[0] !== clicks) throw new Error(`Stored: ${found.getRows()}`)
    connection.closeSync()
    instance.closeSync()
  }
  return rounds
}

async function runRound({ sql, url: target }: PostgresBench, url: string, key: string): Promise<object> {
  await sql`DROP SCHEMA IF EXISTS tributary CASCADE`
  const synced = await runSync(target, url, key)
  const file = join(options.folder, 'clicks.csv')
  runPsql(target, `\\copy tributary.clicks TO '${file}' (FORMAT csv)`)
  await sql`CREATE TABLE tributary.copied (LIKE tributary.clicks INCLUDING ALL)`
  await sql`CHECKPOINT`
  const startedMs = performance.now()
  runPsql(target, `\\copy tributary.copied FROM '${file}' (FORMAT csv)`)
  const copySeconds = secondsSince(startedMs)
  await rm(file)
  const [stored] = await sql<{ copied: number; synced: number }[]>`
    SELECT (SELECT count(*) FROM tributary.copied)::int AS copied, (SELECT count(*) FROM tributary.clicks)::int AS synced`
  if (stored?.copied !== clicks || stored.synced !== clicks) throw new Error(`Stored: ${JSON.stringify(stored)}`)
  return figures(synced, copySeconds)
}

function figures(synced: { seconds: number; peakMb: number }, copySeconds: number): object {
  return {
    syncPerSecond: Math.round(clicks / synced.seconds),
    copyPerSecond: Math.round(clicks / copySeconds),
    ofCopy: rounded(copySeconds / synced.seconds),
    peakMb: synced.peakMb,
  }
}

async function runSync(target: string, url: string, key: string): Promise<{ seconds: number; peakMb: number }> {
  const program = join(packageRoot, 'src/packages/sync/dist/main.js')
  const startedMs = performance.now()
  const child = spawn(process.execPath, [program, target, '--url', url, '--resources', 'clicks', '--json'], {
    env: { PATH: process.env.PATH, TRIBUTARY_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let peak = 0
  const watching = setInterval(async () => {
    // The process may have ended.
    peak = Math.max(peak, (await peakMb(child.pid ?? 0).catch(() => 0)) || 0)
  }, 100)
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  clearInterval(watching)
  if (code !== 0 || JSON.parse(output).rows.clicks !== clicks) throw new Error(`tributary-sync: ${code} ${output}`)
  return { seconds: secondsSince(startedMs), peakMb: peak }
}
