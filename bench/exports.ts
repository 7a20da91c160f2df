// Measures exports of a list, relative to the bare SELECT of the same rows, and the memory that they need. The first run
// generates rows of a year in --folder; later runs reuse them.
//   npm run bench -- exports --folder /tmp/exports --clicks 1000000
// The same process reads the bare SELECT over HTTP, alternating with the API. Goals: NDJSON at least 0.6 of the rows per
// second, Parquet 0.8, and less than 50 MB more memory in the process of the API.
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../src/accounts/keys.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { benchAccount, fillStores } from './data.ts'
import { startProgram, stopPrograms, urlOf } from './processes.ts'
import { drain, type ListRead, readList } from './readList.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-exports' },
    clicks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    /** Fills the stores without measuring. */
    fill: { type: 'boolean', default: false },
  },
})

const clicks = Number(options.clicks)
const settings = { DATA_DIR: options.folder, PORT: '0', LOG_LEVEL: 'warn' }
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
try {
  await migrate(stores)
  await fillStores(stores, clicks, console.log)
  if (!options.fill) await measure()
} finally {
  await stores.close()
}

async function measure(): Promise<void> {
  const created = await createKey(stores.postgres, {
    ...{ accountId: benchAccount, name: 'bench', scopes: ['read:clicks'], expiresAt: null },
  })
  if (!created) throw new Error('The account is missing.')
  const program = await startProgram([join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
    ...process.env,
    ...settings,
  })
  const server = { url: urlOf(program), pid: program.pid }
  const variants: Record<string, () => Promise<ListRead>> = {
    'bare SELECT, NDJSON': () => readBare('JSONEachRow'),
    'API, NDJSON': () => readApi(server.url, created.key, 'ndjson'),
    'API, CSV': () => readApi(server.url, created.key, 'csv'),
    'API, NDJSON, gzip': () => readApi(server.url, created.key, 'ndjson', 'gzip'),
    'bare SELECT, Parquet': () => readBare('Parquet'),
    'API, Parquet': () => readApi(server.url, created.key, 'parquet'),
  }
  const reads: Record<string, ListRead[]> = {}
  try {
    await readApi(server.url, created.key, 'ndjson')
    const before = await memoryMb(server.pid)
    let peak = 0
    const watching = setInterval(async () => {
      peak = Math.max(peak, await memoryMb(server.pid))
    }, 50)
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [variant, read] of Object.entries(variants)) {
        const result = await read()
        if (result.rows !== undefined && result.rows !== clicks) throw new Error(`${variant}: ${result.rows} rows`)
        const results = reads[variant] ?? []
        reads[variant] = results
        results.push(result)
      }
    }
    clearInterval(watching)
    const perSecond = (variant: string) => clicks / medianSeconds(reads[variant] ?? [])
    console.table(
      Object.entries(reads).map(([variant, results]) => ({
        variant,
        'rows/s': Math.round(perSecond(variant)),
        seconds: results.map(({ seconds }) => seconds.toFixed(2)).join(' '),
        MB: Math.round(results[0]?.megabytes ?? 0),
        ratio: (
          perSecond(variant) / perSecond(`bare SELECT, ${variant.includes('Parquet') ? 'Parquet' : 'NDJSON'}`)
        ).toFixed(2),
      })),
    )
    console.log(`Memory of the API: ${before} MB before, ${peak} MB at most, ${peak - before} MB more.`)
  } finally {
    await stopPrograms()
  }
}

function medianSeconds(reads: readonly ListRead[]): number {
  return reads.map(({ seconds }) => seconds).sort((a, b) => a - b)[Math.floor(reads.length / 2)] ?? Number.NaN
}

async function readBare(format: 'JSONEachRow' | 'Parquet'): Promise<ListRead> {
  const startedMs = performance.now()
  const response = await stores.clickhouse.client.exec({
    query: `SELECT * FROM clicks WHERE account_id = {account:String} FORMAT ${format}`,
    query_params: { account: benchAccount },
  })
  return await drain(response.stream as IncomingMessage, startedMs, format === 'JSONEachRow')
}

function readApi(url: string, key: string, format: string, encoding?: string): Promise<ListRead> {
  return readList(`${url}/api/v1/clicks?format=${format}`, key, encoding)
}

/** Resident memory of a process; Linux only. */
async function memoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
