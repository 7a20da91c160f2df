// Measures funnels, reports and lists of events over HTTP, one request at a time. bench/README.md explains options and output.
import { parseArgs } from 'node:util'
import { keepAliveSettings } from '../src/stores/clickhouse/client.ts'
import { busyCores, clickhousePid, cpuMs, urlOf } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import { type BenchStores, countOf, openKey, select, serve, settled, withStores } from './stores.ts'
import { openClient, quantile, rounded, time } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string', default: '/tmp/tributary-bench-event-reads' },
    events: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '10' },
    /** Regular expression that the names of reads must match. */
    only: { type: 'string', default: '' },
    out: { type: 'string' },
  },
})

const account = 'bench'
const events = Number(options.events)
const only = new RegExp(options.only)
const untilMs = Date.UTC(2026, 10, 19)
const dayMs = 86_400_000
const range = 'from=2026-10-20&to=2026-11-18'
const chunkRows = 250_000

/** An account with a tenth of the events, of the last three days: each of these days has as many events as in the other account. */
const tenth = 'tenth'

/** The statements of reports without what the API adds: events of bots, names, other metrics, totals. */
const removed = (columns: string) => {
  const isOfDays = (from: string, until: string) => `
    account_id = {account:String} AND occurred_at >= ${from} AND occurred_at < ${until}`
  const isOfRange = isOfDays('{from:Date}', '{until:Date}')
  const isAround = isOfDays('{from:Date} - 1', '{until:Date} + 1')
  const repeated = `(
    SELECT groupArray(id_hash)
    FROM (SELECT id_hash FROM pixel_events WHERE ${isAround} GROUP BY id_hash HAVING count() > 1))`
  const isRepeated = `id_hash IN (SELECT arrayJoin(${repeated}))`
  return `
    SELECT ${columns} FROM pixel_events WHERE ${isOfRange} AND NOT ${isRepeated}
    UNION ALL
    SELECT ${columns} FROM pixel_events FINAL
    WHERE ${isOfRange} AND notEmpty(${repeated})
      AND id IN (SELECT id FROM pixel_events WHERE ${isAround} AND ${isRepeated})`
}
const byName = `SELECT event_name AS id, count() AS events FROM (${removed('event_name')}) GROUP BY id`
const bySource = `
  SELECT source AS id, count() AS events
  FROM (${removed('click_hash')}) AS e
  LEFT ANY JOIN (
    SELECT sipHash64(id) AS click_hash, traffic_source_id AS source FROM clicks
    WHERE account_id = {account:String} AND click_hash IN (${removed('click_hash')})
  ) AS k USING (click_hash)
  GROUP BY id`

interface ReportRead {
  name: string
  account: string
  groupBy: string
  from: string
  until: string
  bare: string
}
const tenDays = { account, from: '2026-10-30', until: '2026-11-09' }
const oneDay = { from: '2026-11-17', until: '2026-11-18', groupBy: 'event_name', bare: byName }
const reportReads: readonly ReportRead[] = [
  { ...tenDays, name: 'report by name, 10 days', groupBy: 'event_name', bare: byName },
  { ...tenDays, name: 'report by source, 10 days', groupBy: 'traffic_source', bare: bySource },
  { ...oneDay, name: 'report of a day', account },
  { ...oneDay, name: 'report of the same day, a tenth of the account', account: tenth },
]

const busyBefore = await busyCores()
await withStores(options.folder, async (stores) => {
  await fill(stores, account, events, 30)
  await fill(stores, tenth, events / 10, 3)
  await settled(stores)
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
  for (const [read, path] of Object.entries(reads).filter(([name]) => only.test(name))) {
    check(read, await client.get(api + path))
    const beforeMs = cpuMs(pid)
    // Responses are cached for 2 s per query: each request has a window of its own.
    const pathOf = (number: number) => (path.startsWith('/funnels') ? `${path}&window=${100 + number}h` : path)
    const times = await time((number) => client.get(api + pathOf(number)), { requests, connections: 1 })
    measurements.push({ read, ...times, cpuMs: (cpuMs(pid) - beforeMs) / requests })
  }
  client.close()
  const reports = await measureReports(stores, api, pid)
  console.table(measurements)
  console.table(reports)
  const file = options.out ?? resultsFile(`event-reads-${events}`)
  await writeResults(file, { beside: 'client beside the server', events, busyBefore }, [...measurements, ...reports])
}

/** @throws Error when a response cannot be right */
function check(read: string, body: string): void {
  const { steps, data, id } = JSON.parse(body)
  const entered: number[] | undefined = steps?.map((step: { entered: number }) => step.entered)
  const isFunnel = entered?.every((count, index) => count > 0 && count <= (entered[index - 1] ?? events))
  if (!(entered ? isFunnel : data ? data.length > 0 : id)) throw new Error(`${read}: ${body.slice(0, 500)}`)
}

/** Measures each report and its bare statement in turns, so that load of other processes is in both. */
async function measureReports(stores: BenchStores, api: string, pid: number): Promise<object[]> {
  const clients = new Map<string, ReturnType<typeof openClient>>()
  for (const name of [account, tenth]) clients.set(name, openClient(await openKey(stores, name), 1))
  const reads = reportReads
    .filter(({ name }) => only.test(name))
    .flatMap((read) => {
      const to = new Date(Date.parse(read.until) - dayMs).toISOString().slice(0, 10)
      const path = `/reports?metrics=events&group_by=${read.groupBy}&from=${read.from}&to=${to}`
      // Responses are cached for 2 s per query.
      const send = async (number: number) =>
        JSON.parse((await clients.get(read.account)?.get(`${api}${path}&limit=${100 + number}`)) ?? '').totals.events
      const run = async () => {
        const rows = await select<{ events: number }>(stores, read.bare, read)
        return rows.reduce((sum, row) => sum + row.events, 0)
      }
      return [
        { read: read.name, send },
        { read: `${read.name}: bare`, send: run },
      ]
    })
  const requests = Number(options.requests) * 2
  const figures = reads.map(() => ({ ms: [] as number[], cpu: [] as number[] }))
  for (let number = -2; number < requests; number++) {
    for (const [index, { read, send }] of reads.entries()) {
      const [sentMs, beforeMs] = [performance.now(), cpuMs(pid)]
      if (!((await send(number)) > 0)) throw new Error(`${read} counts no events.`)
      if (number < 0) continue
      figures[index]?.ms.push(performance.now() - sentMs)
      figures[index]?.cpu.push(cpuMs(pid) - beforeMs)
    }
  }
  for (const client of clients.values()) client.close()
  return reads.map(({ read }, index) => {
    const { ms = [], cpu = [] } = figures[index] ?? {}
    return { read, requests, p50Ms: rounded(quantile(ms, 0.5)), cpuMs: rounded(quantile(cpu, 0.5)) }
  })
}

/**
 * Fills the account, also one that an earlier run has filled in part. Every click has some of the four steps in random order;
 * ids are random, which is the worst case.
 */
async function fill(stores: BenchStores, account: string, events: number, days: number): Promise<void> {
  const rangeMs = days * dayMs
  const sinceMs = untilMs - rangeMs
  /** A visitor clicks 1.25 times, and a click has 4 events. */
  const clicks = Math.round(events / 4)
  const visitors = Math.round(clicks * 0.8)
  await stores.postgres`
    INSERT INTO accounts (id, name, plan, currency) VALUES (${account}, ${account}, 'scale', 'USD')
    ON CONFLICT DO NOTHING`
  await fillTable(
    stores,
    { table: 'clicks', account },
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
    { table: 'pixel_events', account },
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
  { table, account }: { table: string; account: string },
  all: number,
  statementOf: (rows: string) => string,
): Promise<void> {
  const stored = await countOf(stores, table, account)
  if (stored > all) throw new Error(`The folder has ${stored} rows of ${table} instead of ${all}: remove it.`)
  for (let first = stored; first < all; first += chunkRows) {
    await stores.clickhouse.client.command({
      query: statementOf(`numbers(${first}, ${Math.min(chunkRows, all - first)})`),
      clickhouse_settings: { max_insert_threads: '1', max_partitions_per_insert_block: '0', ...keepAliveSettings },
    })
    console.log(`${Math.min(first + chunkRows, all)} of ${all} rows of ${table}`)
  }
}
