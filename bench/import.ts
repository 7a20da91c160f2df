// Measures clicks per second of an import, including indexes, sums and projections. The baseline is the minimum cost of
// storing them: one statement that inserts the same file into `clicks` without views. bench/README.md explains options and
// output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/accounts.ts'
import { packageRoot } from '../src/package.ts'
import { columnName } from '../src/stores/clickhouse/columnKinds.ts'
import { clickOf, writeCompareData } from './compareData.ts'
import { benchAccount } from './data.ts'
import { clickhousePid, cpuMs } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import { type BenchStores, cacheFolder, countOf, withStores } from './stores.ts'
import { rounded, secondsSince } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '500000' },
    /** Folder of the generated file, which later runs reuse. */
    folder: { type: 'string', default: cacheFolder },
    runs: { type: 'string', default: '3' },
    out: { type: 'string', default: resultsFile('import') },
  },
})

const bareTable = 'bench_bare_clicks'
const rows = Number(options.rows)
const folder = join(options.folder, `import-${rows}`)
await writeCompareData(folder, 0, rows)
const file = join(folder, 'import.ndjson')
const runs: object[] = []
for (let number = 0; number < Number(options.runs); number++) {
  await withStores(undefined, async (stores) => {
    await createAccount(stores.postgres, { id: benchAccount, name: benchAccount, plan: 'scale', currency: 'USD' })
    runs.push(await measure(stores))
    console.log(runs.at(-1))
  })
}
await writeResults(options.out, { beside: 'stores beside the importer', clicks: rows }, runs)

async function measure(stores: BenchStores): Promise<object> {
  const engine = (await clickhousePid(stores.dataDir)) ?? 0
  const timed = async (work: () => Promise<void>) => {
    const [beforeMs, startedMs] = [cpuMs(engine), performance.now()]
    await work()
    const seconds = secondsSince(startedMs)
    return {
      seconds,
      perSecond: Math.round(rows / seconds),
      cpuSeconds: rounded((cpuMs(engine) - beforeMs) / 1000),
    }
  }
  const bare = await timed(() => insertBare(stores))
  const whole = await timed(async () => {
    const words = ['dist/src/main.js', 'import', 'clicks', file, '--account', benchAccount]
    const child = spawn(process.execPath, words, {
      cwd: packageRoot,
      env: stores.environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`The import exited with ${code}.`)
  })
  for (const table of [bareTable, 'clicks']) {
    const stored = await countOf(stores, table)
    if (stored !== rows) throw new Error(`${table} has ${stored} of ${rows} clicks.`)
  }
  return {
    barePerSecond: bare.perSecond,
    bareClickhouseCpuSeconds: bare.cpuSeconds,
    importPerSecond: whole.perSecond,
    importClickhouseCpuSeconds: whole.cpuSeconds,
    ratio: rounded(bare.seconds / whole.seconds),
  }
}

async function insertBare({ clickhouse: { client } }: BenchStores): Promise<void> {
  await client.command({ query: `CREATE TABLE ${bareTable} AS clicks` })
  const { subIds, ...fields } = clickOf(0, 1, 0)
  const types = Object.entries(fields).map(([field, value]) =>
    field === 'clickedAt'
      ? `${field} DateTime64(3, 'UTC')`
      : `${field} ${{ boolean: 'Bool', number: 'Decimal(18, 6)' }[typeof value as string] ?? 'String'}`,
  )
  const names = Object.keys(fields)
  const response = await client.exec({
    query: `
      INSERT INTO ${bareTable} (account_id, cost_base, ${Object.keys(subIds).join(', ')}, ${names.map(columnName).join(', ')})
      SELECT '${benchAccount}', cost, ${Object.keys(subIds)
        .map((name) => `subIds['${name}']`)
        .join(', ')}, ${names.join(', ')}
      FROM input({structure:String}) FORMAT JSONEachRow`,
    query_params: { structure: [...types, 'subIds Map(String, String)'].join(', ') },
    values: createReadStream(file),
    clickhouse_settings: { date_time_input_format: 'best_effort' },
  })
  for await (const _ of response.stream);
}
