// Measures funnels, journeys and lists of events over HTTP, one request at a time. The first run generates 30 days of events in --folder;
// later runs reuse them.
//   npm run bench -- event-reads --folder /tmp/event-reads --events 1000000
// Goals: a funnel of four steps in 300 ms at a million events and 1.5 s at ten million; a first page, also of a visitor, in
// 40 ms; one event in 15 ms.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../src/accounts/keys.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings.ts'
import { keepAliveSettings } from '../src/stores/clickhouse/connection.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores } from '../src/stores/open.ts'
import { busyCores, clickhousePid, cpuMs, startProgram, stopPrograms, urlOf } from './processes.ts'
import { describeMachine, provenance, writeResults } from './results.ts'
import { openClient, time } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-event-reads' },
    events: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '10' },
    out: { type: 'string' },
  },
})

const account = 'bench'
const events = Number(options.events)
/** A visitor clicks 1.25 times, and a click has 4 events. */
const clicks = Math.round(events / 4)
const visitors = Math.round(clicks * 0.8)
const sinceMs = Date.UTC(2026, 9, 20)
const rangeMs = 30 * 86_400_000
const range = 'from=2026-10-20&to=2026-11-18'
const chunkRows = 500_000

const busyBefore = await busyCores()
const settings = { DATA_DIR: options.folder, PORT: '0', LOG_LEVEL: 'warn' }
const stores = await openStores(readSettings(settings), ({ message }) => console.error(message))
try {
  await migrate(stores)
  await fill()
  await measure()
} finally {
  await stopPrograms()
  await stores.close()
}

async function measure(): Promise<void> {
  const created = await createKey(stores.postgres, {
    ...{
      accountId: account,
      name: 'bench',
      scopes: ['read:events', 'read:clicks', 'read:conversions'],
      expiresAt: null,
    },
  })
  if (!created) throw new Error('The account is missing.')
  const program = await startProgram([join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], {
    ...process.env,
    ...settings,
  })
  const client = openClient(created.key, 1)
  const api = `${urlOf(program)}/api/v1`
  const { data } = JSON.parse(await client.get(`${api}/events?limit=1`))
  const [{ id, visitorId, clickId }] = data
  const steps = 'steps=visit,signup,trial_started,purchase'
  const reads = {
    'funnel of 4 steps': `/funnels?${steps}&${range}`,
    'funnel of 4 steps, 7 days': `/funnels?${steps}&from=2026-11-01&to=2026-11-07`,
    'funnel of 4 steps by country': `/funnels?${steps}&${range}&group_by=country`,
    'funnel with clicks': `/funnels?steps=click,signup,purchase&${range}`,
    'first page of events': '/events?limit=50',
    'first page of a visitor': `/events?visitor_id=${visitorId}`,
    'one event': `/events/${id}`,
    'journey of a visitor': `/journeys?visitor_id=${visitorId}`,
    'journey of a click': `/journeys?click_id=${clickId}`,
  }
  const pid = await clickhousePid(options.folder)
  const measurements = []
  for (const [read, path] of Object.entries(reads)) {
    check(read, await client.get(api + path))
    const beforeMs = pid ? await cpuMs(pid) : 0
    const requests = Number(options.requests)
    // Responses are cached for 2 s per query: each request has a window of its own.
    const pathOf = (number: number) => (path.startsWith('/funnels') ? `${path}&window=${100 + number}h` : path)
    const times = await time((number) => client.get(api + pathOf(number)), { requests, connections: 1 })
    measurements.push({ read, ...times, cpuMs: pid ? ((await cpuMs(pid)) - beforeMs) / requests : undefined })
  }
  console.table(measurements)
  const context = { ...provenance(), machine: describeMachine('client beside the server'), events, busyBefore }
  await writeResults(options.out ?? join(packageRoot, `bench/results/event-reads-${events}.ndjson`), {
    context,
    measurements,
  })
  client.close()
}

/** @throws Error when a response cannot be right */
function check(read: string, body: string): void {
  const { steps, data, id } = JSON.parse(body)
  const entered: number[] | undefined = steps?.map((step: { entered: number }) => step.entered)
  const isFunnel = entered?.every((count, index) => count > 0 && count <= (entered[index - 1] ?? visitors))
  if (!(entered ? isFunnel : data ? data.length > 0 : id)) throw new Error(`${read}: ${body.slice(0, 500)}`)
}

/**
 * Fills the account, also one that an earlier run has filled in part. Every click has some of the four steps in random order;
 * ids are random, which is the worst case.
 */
async function fill(): Promise<void> {
  await stores.postgres`
    INSERT INTO accounts (id, name, plan, currency) VALUES (${account}, ${account}, 'scale', 'USD')
    ON CONFLICT DO NOTHING`
  for (let first = await countOf('clicks'); first < clicks; first += chunkRows) {
    await run(`
      INSERT INTO clicks (account_id, clicked_at, id, campaign_id, traffic_source_id, visitor_id, country, device, is_bot, is_test)
      WITH sipHash64(number) AS h
      SELECT '${account}', fromUnixTimestamp64Milli(toInt64(${sinceMs} + intDiv(number * ${rangeMs}, ${clicks})), 'UTC'),
        concat('clk_', lower(hex(h))), concat('cmp-', toString(h % 60)), concat('src-', toString(h % 25)),
        concat('vis_', lower(hex(sipHash64(number % ${visitors})))), ['US', 'DE', 'GB', 'FR'][1 + h % 4],
        ['mobile', 'desktop'][1 + h % 2], sipHash64(number, 1) % 20 = 0, sipHash64(number, 2) % 1000 = 0
      FROM numbers(${first}, ${Math.min(chunkRows, clicks - first)})`)
  }
  const stored = await countOf('pixel_events')
  if (stored > events) throw new Error(`The folder has ${stored} events instead of ${events}: remove it.`)
  for (let first = stored; first < events; first += chunkRows) {
    await run(`
      INSERT INTO pixel_events (account_id, origin, id, event_name, click_id, visitor_id, campaign_id, user_id, occurred_at, received_at, stored_at)
      WITH sipHash64(number, 7) AS h, toUInt64(h % ${clicks}) AS click, bitShiftRight(h, 32) % 100 AS draw
      SELECT '${account}', 'server', lower(hex(sipHash128(number))),
        multiIf(draw < 55, 'visit', draw < 80, 'signup', draw < 92, 'trial_started', 'purchase'),
        concat('clk_', lower(hex(sipHash64(click)))), concat('vis_', lower(hex(sipHash64(click % ${visitors})))),
        concat('cmp-', toString(sipHash64(click) % 60)), '${account}',
        fromUnixTimestamp64Milli(toInt64(${sinceMs} + intDiv(number * ${rangeMs}, ${events})), 'UTC') AS at, at, at
      FROM numbers(${first}, ${Math.min(chunkRows, events - first)})`)
    console.log(`${Math.min(first + chunkRows, events)} of ${events} events`)
  }
}

async function countOf(table: 'clicks' | 'pixel_events'): Promise<number> {
  const response = await stores.clickhouse.client.query({ query: `SELECT count() AS n FROM ${table}`, format: 'JSON' })
  return Number((await response.json<{ n: string }>()).data[0]?.n)
}

async function run(query: string): Promise<void> {
  await stores.clickhouse.client.command({
    query,
    clickhouse_settings: { max_insert_threads: '1', max_partitions_per_insert_block: '0', ...keepAliveSettings },
  })
}
