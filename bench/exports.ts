// Measures exports of a list, relative to the bare SELECT of the same rows, and the memory that they need. bench/README.md explains
// options and output. The same process reads the bare SELECT over HTTP, alternating with the API.
import type { IncomingMessage } from 'node:http'
import { parseArgs } from 'node:util'
import { rowFormatSettings } from '../src/rows/clickhouseOutputFormat.ts'
import { benchAccount, fillStores } from './data.ts'
import { peakMb, resetPeak, urlOf } from './processes.ts'
import { type BenchStores, openKey, serve, withStores } from './stores.ts'
import { drain, type ListRead, median, readList } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-exports' },
    clicks: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
})

const clicks = Number(options.clicks)
await withStores(options.folder, async (stores) => {
  await fillStores(stores, clicks)
  await measure(stores)
})

async function measure(stores: BenchStores): Promise<void> {
  const key = await openKey(stores, benchAccount)
  const server = await serve(stores)
  const readApi = (format: string, encoding?: string) =>
    readList(`${urlOf(server)}/api/v1/clicks?format=${format}`, key, encoding)
  const variants: Record<string, () => Promise<ListRead>> = {
    'bare SELECT, NDJSON': () => readBare(stores, 'JSONEachRow'),
    'API, NDJSON': () => readApi('ndjson'),
    'API, NDJSON, gzipped': () => readApi('ndjson', 'gzip'),
    'bare SELECT, Parquet': () => readBare(stores, 'Parquet'),
    'API, Parquet': () => readApi('parquet'),
  }
  await readApi('ndjson')
  await resetPeak(server.pid)
  const beforeMb = await peakMb(server.pid)
  const reads = new Map<string, ListRead[]>(Object.keys(variants).map((variant) => [variant, []]))
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [variant, read] of Object.entries(variants)) {
      const result = await read()
      if (result.rows !== undefined && result.rows !== clicks) throw new Error(`${variant}: ${result.rows} rows`)
      reads.get(variant)?.push(result)
    }
  }
  const perSecond = (variant: string) => clicks / median((reads.get(variant) ?? []).map(({ seconds }) => seconds))
  console.table(
    [...reads].map(([variant, results]) => ({
      variant,
      'rows/s': Math.round(perSecond(variant)),
      seconds: results.map(({ seconds }) => seconds.toFixed(2)).join(' '),
      MB: Math.round(results[0]?.megabytes ?? 0),
      ratio: (perSecond(variant) / perSecond(`bare SELECT, ${/Parquet|NDJSON/.exec(variant)}`)).toFixed(2),
    })),
  )
  console.log(`Memory of the API: ${beforeMb} MB before, ${await peakMb(server.pid)} MB at most.`)
}

async function readBare({ clickhouse }: BenchStores, format: 'JSONEachRow' | 'Parquet'): Promise<ListRead> {
  const startedMs = performance.now()
  const response = await clickhouse.client.exec({
    query: `SELECT * FROM clicks WHERE account_id = {account:String} FORMAT ${format}`,
    query_params: { account: benchAccount },
    clickhouse_settings: rowFormatSettings,
  })
  return await drain(response.stream as IncomingMessage, startedMs, format === 'JSONEachRow')
}
