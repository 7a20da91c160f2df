// Measures clicks per second of an import, including indexes, sums and projections. The baseline is the minimum cost of
// storing them: one statement that inserts the same file into `clicks` without views. bench/README.md explains options and
// output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/accounts.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { benchAccount, insertBare, writeClicks } from './data.ts'
import { clickhousePid, cpuMs } from './processes.ts'
import { describeMachine, provenance, writeResults } from './results.ts'
import { rounded } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '500000' },
    /** Folder of the generated file, which later runs reuse. */
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache') },
    runs: { type: 'string', default: '3' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/import.ndjson') },
  },
})

interface Run {
  bareSeconds: number
  bareClickhouseCpuSeconds: number
  importSeconds: number
  importClickhouseCpuSeconds: number
  /** Clicks per second of the import, relative to the bare insert. */
  ratio: number
}

const rows = Number(options.rows)
const runs: Run[] = []
await mkdir(options.folder, { recursive: true })
const file = join(options.folder, `clicks-${rows}.ndjson`)
for (let number = 0; number < Number(options.runs); number++) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'))
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'silent' }
  const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
  try {
    await migrate(stores)
    await createAccount(stores.postgres, { id: benchAccount, name: benchAccount, plan: 'scale', currency: 'USD' })
    if (!existsSync(file)) await writeClicks(stores, file, rows)
    const run = await compare(stores, dataDir, settings)
    runs.push(run)
    console.log(
      `bare insert ${perSecond(run.bareSeconds)} clicks/s, ${run.bareClickhouseCpuSeconds} s of ClickHouse's CPU; import ${perSecond(run.importSeconds)} clicks/s, ${run.importClickhouseCpuSeconds} s; × ${run.ratio}`,
    )
  } finally {
    await stores.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}
const [median] = [...runs].sort((a, b) => a.ratio - b.ratio).slice(Math.floor(runs.length / 2))
const context = {
  ...provenance(),
  machine: describeMachine('stores beside the importer'),
  clicks: rows,
  fileMb: Math.round((await stat(file)).size / 1e6),
  ...(median && {
    importPerSecond: perSecond(median.importSeconds),
    barePerSecond: perSecond(median.bareSeconds),
    ratio: median.ratio,
  }),
}
await writeResults(options.out, { context, measurements: runs })

async function compare(stores: Stores, dataDir: string, settings: Record<string, string>): Promise<Run> {
  const engine = await clickhousePid(dataDir)
  if (engine === undefined) throw new Error('ClickHouse does not run.')
  const timed = async (work: () => Promise<void>) => {
    const [cpuBefore, startedMs] = [await cpuMs(engine), performance.now()]
    await work()
    return { seconds: (performance.now() - startedMs) / 1000, cpuSeconds: ((await cpuMs(engine)) - cpuBefore) / 1000 }
  }
  const bare = await timed(async () =>
    assertAllStored(await insertBare(stores, createReadStream(file)), 'The bare insert'),
  )
  const whole = await timed(async () => {
    const words = ['dist/src/main.js', 'import', 'clicks', file, '--account', benchAccount]
    const child = spawn(process.execPath, words, {
      cwd: packageRoot,
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`The import exited with ${code}.`)
  })
  const response = await stores.clickhouse.client.query({
    query: 'SELECT count() AS n FROM clicks',
    format: 'JSONEachRow',
  })
  assertAllStored(Number((await response.json<{ n: string }>())[0]?.n), 'The import')
  return {
    bareSeconds: rounded(bare.seconds),
    bareClickhouseCpuSeconds: rounded(bare.cpuSeconds),
    importSeconds: rounded(whole.seconds),
    importClickhouseCpuSeconds: rounded(whole.cpuSeconds),
    ratio: rounded(bare.seconds / whole.seconds),
  }
}

function assertAllStored(stored: number, what: string): void {
  if (stored !== rows) throw new Error(`${what} stored ${stored} of ${rows} clicks.`)
}

function perSecond(seconds: number): number {
  return Math.round(rows / seconds)
}
