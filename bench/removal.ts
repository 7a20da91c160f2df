// Measures the erasure of visitors and the removal of six months of clicks, and reads meanwhile. bench/README.md explains the
// output. Each run generates its clicks anew.
//   npm run bench -- removal --size 1000000
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../src/accounts/keys.ts'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { setRetention } from '../src/accounts/retention.ts'
import { removeOldMonths } from '../src/cli/retentionJob.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { completeErasures } from '../src/writer/erasure/completeErasures.ts'
import { addErasures, hashOf, readErasureClock, readErasureKey } from '../src/writer/erasure/erasures.ts'
import type { Writer } from '../src/writer/lease/writer.ts'
import { openWriter } from '../src/writer/openWriter.ts'
import { benchAccount, benchNowMs, fillStores } from './data.ts'
import { clickhousePid, cpuMs, startProgram } from './processes.ts'
import { openClient, rounded, time } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    /** Clicks of the account; four other accounts have a tenth of them each. */
    size: { type: 'string', default: '10000000' },
    folder: { type: 'string', default: join(packageRoot, 'bench/.cache/removal') },
  },
})

const size = Number(options.size)
const settings = { DATA_DIR: options.folder, PORT: '0', LOG_LEVEL: 'silent' }
/** Clicks of a visitor in every month. */
const frequentClicks = 2_000
/** Read beside the removal. */
const paths = ['/reports?group_by=country&days=30', '/clicks?limit=200', '/stats/daily?days=90'] as const
/** Whole months that remain: 20 November to 31 May are removed. */
const retainedMonths = 5

await rm(options.folder, { recursive: true, force: true })
await mkdir(options.folder, { recursive: true })
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
try {
  await migrate(stores)
  await fillStores(stores, size, console.log)
  await addFrequentVisitor()
  await stores.clickhouse.client.command({ query: 'OPTIMIZE TABLE clicks' })
  await measure()
} finally {
  await stores.close()
  await rm(options.folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const [row] = await rowsOf<{ visitor: string }>(`
    SELECT visitor_id AS visitor FROM clicks WHERE account_id = '${benchAccount}' GROUP BY visitor HAVING count() = 2 LIMIT 1`)
  await measured('erasure of a visitor with 2 clicks', () => erase(row?.visitor ?? ''))
  await measured(`erasure of a visitor with ${frequentClicks} clicks over a year`, () => erase('vis_frequent'))
  await setRetention(stores.postgres, benchAccount, { clickMonths: retainedMonths })
  await setPlanLimits(stores.postgres, 'scale', { requestsPerMinute: 100_000_000 })
  const server = await startProgram(['--import', 'tsx', join(packageRoot, 'bench/readsServer.ts')], {
    ...process.env,
    ...settings,
  })
  const [url = ''] = server.line.split(' ')
  try {
    const alone = await readTimes(url, Promise.resolve())
    const removal = measured('removal of six months', () => withWriter((writer) => removeOldMonths(writer, benchNowMs)))
    const beside = await readTimes(url, removal)
    for (const path of paths) {
      const [before, meanwhile] = [alone.get(path), beside.get(path)]
      if (before && meanwhile)
        console.log(
          `${path}: p50 ${before.p50Ms} ms alone, ${meanwhile.p50Ms} ms meanwhile (× ${rounded(meanwhile.p50Ms / before.p50Ms)}, ${meanwhile.requests} requests)`,
        )
    }
  } finally {
    await server.stop()
  }
}

/** Reads each path in turn on one connection, for at least 30 rounds and until `work` has ended. */
async function readTimes(url: string, work: Promise<unknown>) {
  const created = await createKey(stores.postgres, {
    accountId: benchAccount,
    name: 'bench',
    scopes: ['read:reports', 'read:stats', 'read:clicks'],
    expiresAt: null,
  })
  const client = openClient(created?.key ?? '', 1)
  const durations = new Map<string, number[]>(paths.map((path) => [path, []]))
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  for (let round = 0; round < 33 || !isOver; round++) {
    for (const path of paths) {
      const { p50Ms } = await time(() => client.get(`${url}/api/v1${path}`), { requests: 1, connections: 1 })
      if (round >= 3) durations.get(path)?.push(p50Ms)
    }
  }
  await work
  client.close()
  return new Map(
    [...durations].map(([path, times]) => {
      times.sort((a, b) => a - b)
      return [path, { requests: times.length, p50Ms: times[Math.floor(times.length / 2)] ?? 0 }]
    }),
  )
}

async function measured<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const pid = await clickhousePid(options.folder)
  const [startedMs, startedCpuMs] = [performance.now(), pid ? await cpuMs(pid) : 0]
  const result = await work()
  const seconds = rounded((performance.now() - startedMs) / 1000)
  const cpuSeconds = pid ? rounded(((await cpuMs(pid)) - startedCpuMs) / 1000) : undefined
  console.log(`${name}: ${seconds} s, ${cpuSeconds} s CPU of ClickHouse; ${JSON.stringify(result)}`)
  return result
}

/** As `tributary erase`. */
async function erase(visitor: string) {
  return await withWriter(async (writer) => {
    const key = await readErasureKey(writer)
    const erasedMs = await readErasureClock(writer)
    await addErasures(writer, [{ kind: 'visitor', key, hash: hashOf(key, 'visitor', visitor), erasedMs }])
    return await completeErasures(writer)
  })
}

async function withWriter<Result>(work: (writer: Writer) => Promise<Result>): Promise<Result> {
  const signal = new AbortController().signal
  const writer = await openWriter(stores, benchAccount, { onMessage: console.log, signal })
  try {
    return await work(writer)
  } finally {
    await writer.close()
  }
}

async function addFrequentVisitor(): Promise<void> {
  const yearMs = 365 * 86_400_000
  await stores.clickhouse.client.command({
    query: `
      INSERT INTO clicks (account_id, clicked_at, id, campaign_id, visitor_id, city, ip)
      SELECT '${benchAccount}', fromUnixTimestamp64Milli(toInt64(${benchNowMs - yearMs} + intDiv(number * ${yearMs}, ${frequentClicks})), 'UTC'),
        concat('frequent_', toString(number)), 'cmp-1', 'vis_frequent', 'City', '203.0.113.0'
      FROM numbers(${frequentClicks})`,
    clickhouse_settings: { max_partitions_per_insert_block: '0' },
  })
}

async function rowsOf<Row>(query: string): Promise<Row[]> {
  const response = await stores.clickhouse.client.query({ query, format: 'JSONEachRow' })
  return await response.json<Row>()
}
