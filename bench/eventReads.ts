// Measures funnels and lists of events over HTTP, one request at a time. bench/README.md explains options and output.
import { parseArgs } from 'node:util'
import { keepAliveSettings } from '../src/stores/clickhouse/client.ts'
import { busyCores, clickhousePid, cpuMs, urlOf } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import { type BenchStores, countOf, openKey, serve, withStores } from './stores.ts'
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
await withStores(options.folder, async (stores) => {
  await fill(stores)
  await measure(stores)
})

async function measure(stores: BenchStores): Promise<void> {
  const client = openClient(await openKey(stores, account), 1)
  const api = `${urlOf(await serve(stores))}/api/v1`
  const { data } = JSON.parse(await client.get(`${api}/events?limit=1`))
  const [{ id, visitorId }] = data
  const steps = 'steps=visit,signup,trial_started,purchase'
  const reads = {
    'funnel of 4 steps': `/funnels?${steps}&${range}`,
    'funnel of 4 steps, 7 days': `/funnels?${steps}&from=2026-11-01&to=2026-11-07`,
    'funnel of 4 steps by country': `/funnels?${steps}&${range}&group_by=country`,
    'first page of events': '/events?limit=50',
    'first page of a visitor': `/events?visitor_id=${visitorId}`,
    'one event': `/events/${id}`,
  }
  const pid = (await clickhousePid(stores.dataDir)) ?? 0
  const requests = Number(options.requests)
  const measurements = []
  for (const [read, path] of Object.entries(reads)) {
    check(read, await client.get(api + path))
    const beforeMs = cpuMs(pid)
    // Responses are cached for 2 s per query: each request has a window of its own.
    const pathOf = (number: number) => (path.startsWith('/funnels') ? `${path}&window=${100 + number}h` : path)
    const times = await time((number) => client.get(api + pathOf(number)), { requests, connections: 1 })
    measurements.push({ read, ...times, cpuMs: (cpuMs(pid) - beforeMs) / requests })
  }
  client.close()
  console.table(measurements)
  const file = options.out ?? resultsFile(`event-reads-${events}`)
  await writeResults(file, { beside: 'client beside the server', events, busyBefore }, measurements)
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
async function fill(stores: BenchStores): Promise<void> {
  await stores.postgres`
    INSERT INTO accounts (id, name, plan, currency) VALUES (${account}, ${account}, 'scale', 'USD')
    ON CONFLICT DO NOTHING`
  await fillTable(
    stores,
    'clicks',
    clicks,
    (rows) => `
    INSERT INTO clicks (account_id, clicked_at, id, campaign_id, traffic_source_id, visitor_id, country, device, is_bot, is_test)
    WITH sipHash64(number) AS h
    SELECT '${account}', fromUnixTimestamp64Milli(toInt64(${sinceMs} + intDiv(number * ${rangeMs}, ${clicks})), 'UTC'),
      concat('clk_', lower(hex(h))), concat('cmp-', toString(h % 60)), concat('src-', toString(h % 25)),
      concat('vis_', lower(hex(sipHash64(number % ${visitors})))), ['US', 'DE', 'GB', 'FR'][1 + h % 4],
      ['mobile', 'desktop'][1 + h % 2], sipHash64(number, 1) % 20 = 0, sipHash64(number, 2) % 1000 = 0
    FROM ${rows}`,
  )
  await fillTable(
    stores,
    'pixel_events',
    events,
    (rows) => `
    INSERT INTO pixel_events (account_id, origin, id, event_name, click_id, visitor_id, campaign_id, user_id, occurred_at, received_at, stored_at)
    WITH sipHash64(number, 7) AS h, toUInt64(h % ${clicks}) AS click, bitShiftRight(h, 32) % 100 AS draw
    SELECT '${account}', 'server', lower(hex(sipHash128(number))),
      multiIf(draw < 55, 'visit', draw < 80, 'signup', draw < 92, 'trial_started', 'purchase'),
      concat('clk_', lower(hex(sipHash64(click)))), concat('vis_', lower(hex(sipHash64(click % ${visitors})))),
      concat('cmp-', toString(sipHash64(click) % 60)), '${account}',
      fromUnixTimestamp64Milli(toInt64(${sinceMs} + intDiv(number * ${rangeMs}, ${events})), 'UTC') AS at, at, at
    FROM ${rows}`,
  )
}

/** @param statementOf inserts the rows with the numbers of a table function */
async function fillTable(
  stores: BenchStores,
  table: string,
  all: number,
  statementOf: (rows: string) => string,
): Promise<void> {
  const stored = await countOf(stores, table)
  if (stored > all) throw new Error(`The folder has ${stored} rows of ${table} instead of ${all}: remove it.`)
  for (let first = stored; first < all; first += chunkRows) {
    await stores.clickhouse.client.command({
      query: statementOf(`numbers(${first}, ${Math.min(chunkRows, all - first)})`),
      clickhouse_settings: { max_insert_threads: '1', max_partitions_per_insert_block: '0', ...keepAliveSettings },
    })
    console.log(`${Math.min(first + chunkRows, all)} of ${all} rows of ${table}`)
  }
}
