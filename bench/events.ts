// Measures events per second, each stored before its response, and response times. bench/README.md explains options and
// output.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { EventBody } from '../schema/event.ts'
import { createAccount } from '../src/accounts/accounts.ts'
import { setPlanLimits } from '../src/accounts/plans.ts'
import { type EventLoad, perSecondOf, sendEvents, warmUp } from './eventsLoad.ts'
import { busyCores, clickhousePid, cpuMs, type Program, peakMb, resetPeak, urlOf } from './processes.ts'
import { resultsFile, writeResults } from './results.ts'
import { type BenchStores, countOf, openKey, select, serve, withStores } from './stores.ts'
import { rounded } from './timing.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '1,4,16,64,256,1024' },
    /** Number of events with random ids that are stored before the first load. */
    history: { type: 'string', default: '1000000' },
    /** Regular expression that the names of loads must match. */
    only: { type: 'string', default: '' },
    out: { type: 'string', default: resultsFile('events') },
  },
})

const account = 'bench'
const warmClicks = 10_000
const campaigns = 20

/** Batches are sent on these connections only: more do not store more. */
const batchConnectionsMax = 16

const batch = { events: 1_000, format: 'json' } as const
const warmLoad = { name: 'event_id, warm clicks', identifiers: warmClicks, withIds: true } as const
const loads: readonly (EventLoad & { name: string })[] = [
  warmLoad,
  { name: 'no event_id, warm clicks', identifiers: warmClicks, withIds: false },
  { name: 'event_id, cold clicks', identifiers: 'new', withIds: true },
  { name: 'batches of 1000, json, warm clicks', identifiers: warmClicks, withIds: true, batch },
  { name: 'batches of 1000, json, cold clicks', identifiers: 'new', withIds: true, batch },
  {
    name: 'batches of 1000, ndjson, warm clicks',
    identifiers: warmClicks,
    withIds: true,
    batch: { ...batch, format: 'ndjson' },
  },
]

const seconds = Number(options.seconds)
const only = new RegExp(options.only)
const busyBefore = await busyCores()
await withStores(undefined, measureAll)

async function measureAll(stores: BenchStores): Promise<void> {
  const key = await fill(stores)
  const server = await serve(stores)
  // The baseline: one route that validates the same body and discards it.
  const empty = Fastify()
  empty.post('/api/v1/events', { schema: { body: EventBody } }, async () => ({ accepted: true }))
  const emptyUrl = await empty.listen({ host: '127.0.0.1', port: 0 })
  await warmUp(urlOf(server), { connections: 512, seconds: 6, key }, warmLoad)
  await warmUp(emptyUrl, { connections: 512, seconds: 3, key }, warmLoad)
  const measurements: object[] = []
  for (const connections of options.connections.split(',').map(Number)) {
    const baseline = await sendEvents(emptyUrl, { connections, seconds, run: 'baseline', key }, warmLoad)
    const perSecond = perSecondOf(baseline)
    measurements.push({ load: 'empty route', connections, perSecond: Math.round(perSecond), ...timesOf(baseline) })
    console.log(measurements.at(-1))
    for (const load of loads.filter(({ name }) => only.test(name))) {
      if (load.batch && connections > batchConnectionsMax) continue
      measurements.push(await measure(stores, load, { connections, key, server, baseline: perSecond }))
      console.log(measurements.at(-1))
    }
  }
  await empty.close()
  const context = { beside: 'load and engines beside the server', busyBefore, secondsPerLoad: seconds }
  await writeResults(options.out, { ...context, eventsBefore: Number(options.history) }, measurements)
}

/**
 * Sends one load and counts its stored events.
 * @throws Error when requests were rejected or acknowledged events are not stored
 */
async function measure(
  stores: BenchStores,
  load: EventLoad & { name: string },
  { connections, key, server, baseline }: { connections: number; key: string; server: Program; baseline: number },
): Promise<object> {
  const eventsPerRequest = load.batch?.events ?? 1
  const run = `${load.name.replaceAll(/\W+/g, '-')}-${connections}`
  const perSecondMax = load.batch ? 100_000 : 20_000
  if (load.identifiers === 'new') await storeClicks(stores, `${run}-`, Math.round(perSecondMax * (seconds + 2)))
  await resetPeak(server.pid)
  const engine = (await clickhousePid(stores.dataDir)) ?? 0
  const before = await counts(stores)
  const [serverBeforeMs, engineBeforeMs] = [cpuMs(server.pid), cpuMs(engine)]
  const result = await sendEvents(urlOf(server), { connections, seconds, run, key }, load)
  const after = await settledCounts(stores)
  const acknowledged = (result.requests - result.rejected) * eventsPerRequest
  const stored = after.events - before.events
  if (result.rejected + result.broken > 0) {
    throw new Error(`${result.rejected} requests were rejected, ${result.broken} connections broke.`)
  }
  // The load ends with up to one request in flight per connection: these events are stored without a response.
  if (stored < acknowledged || stored > acknowledged + connections * eventsPerRequest) {
    throw new Error(`${load.name}: ${stored} events were stored, ${acknowledged} acknowledged.`)
  }
  const perSecond = perSecondOf(result) * eventsPerRequest
  /** CPU time per event, including merges. */
  const usOf = (pid: number, beforeMs: number) => Math.round((1000 * (cpuMs(pid) - beforeMs)) / acknowledged)
  return {
    load: load.name,
    connections,
    perSecond: Math.round(perSecond),
    ...timesOf(result),
    ratio: rounded(perSecond / baseline),
    acknowledged,
    stored,
    partsPerSecond: rounded((after.parts - before.parts) / (result.durationUs / 1e6)),
    serverUs: usOf(server.pid, serverBeforeMs),
    clickhouseUs: usOf(engine, engineBeforeMs),
    memoryMb: await peakMb(server.pid),
  }
}

function timesOf({ p50Us, p95Us, p99Us }: { p50Us: number; p95Us: number; p99Us: number }): object {
  return { p50Ms: p50Us / 1000, p95Ms: p95Us / 1000, p99Ms: p99Us / 1000 }
}

/** Creates an account with limits that are checked and never reached, campaigns, clicks and earlier events. */
async function fill(stores: BenchStores): Promise<string> {
  const { postgres, clickhouse } = stores
  await setPlanLimits(postgres, 'scale', {
    eventsPerMinute: 100_000_000,
    identifierEventsPerMinute: 10_000_000,
    clickAllowance: 1_000_000_000,
  })
  await createAccount(postgres, { id: account, name: account, plan: 'scale', currency: 'USD' })
  for (let number = 0; number < campaigns; number++) {
    await postgres`
      INSERT INTO campaigns (account_id, id, name, user_id, status, created_at, updated_at, search_text)
      VALUES (${account}, ${`campaign-${number}`}, 'A campaign', ${account}, 'active', now(), now(), '')`
  }
  await storeClicks(stores, 'click-', warmClicks)
  await clickhouse.client.command({
    query: `
      INSERT INTO pixel_events (account_id, origin, id, event_name, click_id, campaign_id, user_id, occurred_at, received_at)
      SELECT '${account}', 'server', toString(generateUUIDv4()), 'paid', concat('click-', toString(number % 1000)),
        'campaign-1', '${account}', now64(3), now64(3) - INTERVAL 2 DAY
      FROM numbers(${Number(options.history)})`,
  })
  return await openKey(stores, account)
}

/** Inserts only into the click index, which attribution reads. */
async function storeClicks({ clickhouse }: BenchStores, prefix: string, count: number): Promise<void> {
  await clickhouse.client.command({
    query: `
      INSERT INTO click_index (account_id, id, clicked_at, campaign_id)
      SELECT '${account}', concat('${prefix}', toString(number)), now64(3),
        concat('campaign-', toString(number % ${campaigns}))
      FROM numbers(${count + 1})`,
  })
}

/** Every insert creates one part with the next block number. */
async function counts(stores: BenchStores): Promise<{ events: number; parts: number }> {
  const [blocks] = await select<{ last: number }>(
    stores,
    `SELECT max(max_block_number) AS last FROM system.parts WHERE database = currentDatabase() AND table = 'pixel_events'`,
  )
  return { events: await countOf(stores, 'pixel_events FINAL'), parts: blocks?.last ?? 0 }
}

/** Waits until the events in flight at the end of the load are stored. */
async function settledCounts(stores: BenchStores): Promise<{ events: number; parts: number }> {
  for (let last = await counts(stores); ; ) {
    await sleep(500)
    const next = await counts(stores)
    if (next.events === last.events) return next
    last = next
  }
}
