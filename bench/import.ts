// How many clicks a second does an import store, with every index, sum and projection that reads live on? The baseline
// is the least that storing them could cost: one statement that inserts the same file into `clicks` without views.
// bench/README.md says how to run this and how to read it.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/accounts.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { benchAccount, insertBare, writeClicks } from './data.ts'
import { clickhousePid, cpuMs } from './processes.ts'
import { rounded } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '500000' },
    /** Where the generated file is kept for the next run. */
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache') },
    runs: { type: 'string', default: '3' },
    out: { type: 'string', default: join(packageRoot, 'bench/results/import.json') },
  },
})

interface Run {
  bareSeconds: number
  bareClickhouseCpuSeconds: number
  importSeconds: number
  importClickhouseCpuSeconds: number
  /** Clicks a second of the import, of those of the bare insert. */
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
const [middle] = [...runs].sort((a, b) => a.ratio - b.ratio).slice(Math.floor(runs.length / 2))
const [cpu] = cpus()
const report = {
  date: new Date().toISOString(),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot, encoding: 'utf8' }).trim(),
  machine: `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, stores beside the importer`,
  clicks: rows,
  fileMb: Math.round((await stat(file)).size / 1e6),
  ...(middle && {
    importPerSecond: perSecond(middle.importSeconds),
    barePerSecond: perSecond(middle.bareSeconds),
    ratio: middle.ratio,
  }),
  runs,
}
await mkdir(join(options.out, '..'), { recursive: true })
await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`)

async function compare(stores: Stores, dataDir: string, settings: Record<string, string>): Promise<Run> {
  const engine = await clickhousePid(dataDir)
  if (engine === undefined) throw new Error('The process of ClickHouse is not there.')
  const timed = async (work: () => Promise<void>) => {
    const [cpuBefore, beganMs] = [await cpuMs(engine), performance.now()]
    await work()
    return { seconds: (performance.now() - beganMs) / 1000, cpuSeconds: ((await cpuMs(engine)) - cpuBefore) / 1000 }
  }
  const bare = await timed(async () => mustBe(await insertBare(stores, createReadStream(file)), 'The bare insert'))
  const whole = await timed(async () => {
    const words = ['dist/src/main.js', 'import', 'clicks', file, '--account', benchAccount]
    const child = spawn(process.execPath, words, {
      cwd: packageRoot,
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`The import ended with ${code}.`)
  })
  const answer = await stores.clickhouse.client.query({
    query: 'SELECT count() AS n FROM clicks',
    format: 'JSONEachRow',
  })
  mustBe(Number((await answer.json<{ n: string }>())[0]?.n), 'The import')
  return {
    bareSeconds: rounded(bare.seconds),
    bareClickhouseCpuSeconds: rounded(bare.cpuSeconds),
    importSeconds: rounded(whole.seconds),
    importClickhouseCpuSeconds: rounded(whole.cpuSeconds),
    ratio: rounded(bare.seconds / whole.seconds),
  }
}

function mustBe(stored: number, what: string): void {
  if (stored !== rows) throw new Error(`${what} stored ${stored} of ${rows} clicks.`)
}

function perSecond(seconds: number): number {
  return Math.round(rows / seconds)
}
