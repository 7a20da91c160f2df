// Measures tributary-sync into PostgreSQL 15: clicks per second of a first copy, relative to COPY of the same rows from a file
// into the same table with the same indexes, and to the export alone; and the peak memory of the process. The first run
// generates the clicks in --folder; later runs reuse them.
//   npm run bench -- sync --folder /tmp/sync --clicks 1000000
// Goal: at least 0.3 of the clicks per second of COPY.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type postgres from 'postgres'
import { scopes } from '../schema/scopes.ts'
import { createKey } from '../src/accounts/keys.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { benchAccount, fillClicks } from './data.ts'
import { runPsql, startPostgresServer } from './postgres.ts'
import { peakMb, startProgram, stopPrograms, urlOf } from './processes.ts'
import { readList } from './readList.ts'
import { describeMachine, provenance, writeResults } from './results.ts'
import { rounded } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-sync' },
    clicks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/sync.ndjson') },
  },
})

interface Round {
  syncSeconds: number
  copySeconds: number
  exportSeconds: number
  /** Clicks per second of tributary-sync, relative to COPY and to the export. */
  ofCopy: number
  ofExport: number
  peakMb: number
}

const clicks = Number(options.clicks)
const settings = { DATA_DIR: join(options.folder, 'stores'), PORT: '0', LOG_LEVEL: 'warn' }
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
try {
  await migrate(stores)
  await fillClicks(stores, benchAccount, clicks, console.log)
  await measure()
} finally {
  await stores.close()
}

async function measure(): Promise<void> {
  const key = (await createKey(stores.postgres, { accountId: benchAccount, name: 'bench', scopes, expiresAt: null }))
    ?.key
  if (!key) throw new Error('The account is missing.')
  // Its user may not enter the folder of the stores.
  const postgresFolder = `${options.folder}-postgres`
  await rm(postgresFolder, { recursive: true, force: true })
  const target = await startPostgresServer(postgresFolder)
  const program = await startProgram([join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
    ...process.env,
    ...settings,
  })
  const rounds: Round[] = []
  try {
    for (let round = 0; round < Number(options.rounds); round++) {
      const result = await runRound(target, urlOf(program), key)
      rounds.push(result)
      const { syncSeconds, copySeconds, exportSeconds, ofCopy, ofExport, peakMb } = result
      console.log(
        `tributary-sync ${perSecond(syncSeconds)} clicks/s, ${peakMb} MiB at most; COPY ${perSecond(copySeconds)}, × ${ofCopy}; export ${perSecond(exportSeconds)}, × ${ofExport}`,
      )
    }
  } finally {
    await stopPrograms()
    await target.close()
  }
  await writeResults(options.out, {
    context: {
      ...provenance(),
      machine: describeMachine('stores, API and PostgreSQL 15 beside tributary-sync'),
      clicks,
    },
    measurements: rounds,
  })
}

async function runRound(target: { url: string; sql: postgres.Sql }, url: string, key: string): Promise<Round> {
  const { sql } = target
  await sql`DROP SCHEMA IF EXISTS tributary CASCADE`
  const synced = await runSync(target.url, url, key)
  const file = join(options.folder, 'clicks.csv')
  runPsql(target.url, `\\copy tributary.clicks TO '${file}' (FORMAT csv)`)
  await sql`CREATE TABLE tributary.copied (LIKE tributary.clicks INCLUDING ALL)`
  await sql`CHECKPOINT`
  const copySeconds = await timed(async () =>
    runPsql(target.url, `\\copy tributary.copied FROM '${file}' (FORMAT csv)`),
  )
  const [stored] = await sql<{ copied: number; synced: number }[]>`
    SELECT (SELECT count(*) FROM tributary.copied)::int AS copied, (SELECT count(*) FROM tributary.clicks)::int AS synced`
  if (stored?.copied !== clicks || stored.synced !== clicks) throw new Error(`Stored: ${JSON.stringify(stored)}`)
  const { rows, seconds: exportSeconds } = await readList(`${url}/api/v1/clicks?format=ndjson`, key)
  if (rows !== clicks) throw new Error(`The export has ${rows} rows.`)
  await rm(file)
  return {
    syncSeconds: rounded(synced.seconds),
    copySeconds: rounded(copySeconds),
    exportSeconds: rounded(exportSeconds),
    ofCopy: rounded(copySeconds / synced.seconds),
    ofExport: rounded(exportSeconds / synced.seconds),
    peakMb: synced.peakMb,
  }
}

async function runSync(target: string, url: string, key: string): Promise<{ seconds: number; peakMb: number }> {
  const words = [
    join(packageRoot, 'src/packages/sync/dist/main.js'),
    target,
    '--url',
    url,
    '--resources',
    'clicks',
    '--json',
  ]
  let peak = 0
  const seconds = await timed(async () => {
    const child = spawn(process.execPath, words, {
      env: { PATH: process.env.PATH, TRIBUTARY_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const watching = setInterval(async () => {
      // The process may have ended.
      peak = Math.max(peak, await peakMb(child.pid ?? 0).catch(() => 0))
    }, 100)
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    clearInterval(watching)
    if (code !== 0 || JSON.parse(output).rows.clicks !== clicks) throw new Error(`tributary-sync: ${code} ${output}`)
  })
  return { seconds, peakMb: peak }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1_000
}

function perSecond(seconds: number): number {
  return Math.round(clicks / seconds)
}
