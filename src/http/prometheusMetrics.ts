import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { commit, version, zoneData } from '../package.ts'
import { withDeadline } from '../stores/timing/deadline.ts'
import { baseServer } from './baseServer.ts'
import type { App } from './context.ts'
import { outerRequest } from './innerRequest.ts'
import { type LimitKind, limitKinds } from './rateLimit.ts'

/** From cached responses to the query timeout. */
const durationBucketsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** Below the timeout of a Prometheus scrape, which would otherwise get no metrics at all. */
const gaugeTimeoutMs = 2_000
const late = () => new Error(`no response within ${gaugeTimeoutMs} ms`)

type Labelled = [labels: Record<string, string>, value: number]

export type Metrics = ReturnType<typeof openMetrics>

/**
 * Opens the metrics of this process, for Prometheus: of Node.js, of responses by route and status, and of queries. Metrics
 * of received events are in `events/prometheusMetrics.ts`.
 */
export function openMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const build = new Gauge({
    name: 'tributary_build_info',
    help: 'Always 1; its labels are the version and the commit of the program, and the version of the zone data of Node.js.',
    labelNames: ['version', 'commit', 'zone_data'],
    registers: [registry],
  })
  build.set({ version, commit, zone_data: zoneData }, 1)
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'HTTP responses by method, route and status; unknown paths have the route "unknown".',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds from the first byte of a request to the last byte of its response, by route.',
    labelNames: ['route'],
    buckets: durationBucketsS,
    registers: [registry],
  })
  const denials = new Counter({
    name: 'rate_limit_denials_total',
    help: 'Requests rejected with 429, by limit: key, address, identifier (a click or visitor), queries (concurrent reads).',
    labelNames: ['limit'],
    registers: [registry],
  })
  for (const limit of limitKinds) denials.inc({ limit }, 0)
  const queries = new Histogram({
    name: 'clickhouse_query_duration_seconds',
    help: 'Duration in seconds of ClickHouse queries and inserts, including failed ones, by label (log_comment in ClickHouse).',
    labelNames: ['label'],
    buckets: durationBucketsS,
    registers: [registry],
  })
  const responses = new Counter({
    name: 'report_responses_total',
    help: 'Responses of stats and reports, by source: cache, shared (the query of a concurrent identical request), query (its own query).',
    labelNames: ['source'],
    registers: [registry],
  })
  return {
    registry,
    timeQuery: (label: string, seconds: number) => queries.observe({ label }, seconds),
    countResponse: (source: string) => responses.inc({ source }),
    /**
     * Adds a gauge that is read for each scrape; NaN when that fails or takes longer than 2 s, and with labels no number.
     * @param labelNames of a gauge with a number for each combination of labels
     */
    addGauge(name: string, help: string, read: () => Promise<number | Labelled[]>, labelNames: string[] = []) {
      new Gauge({
        name,
        help,
        labelNames,
        registers: [registry],
        async collect() {
          const failed = () => (labelNames.length > 0 ? [] : Number.NaN)
          const found = await withDeadline(gaugeTimeoutMs, late, read).catch(failed)
          this.reset()
          for (const [labels, value] of Array.isArray(found) ? found : [[{}, found] as const]) this.set(labels, value)
        },
      })
    },
    countDenial: (limit: LimitKind) => denials.inc({ limit }),
    /** TRAP: without a first value of 0, `rate` and `increase` of Prometheus would miss the first failure of a route. */
    observe(app: App) {
      app.addHook('onRoute', ({ method, url }) => {
        for (const status of [500, 503])
          for (const verb of [method].flat()) requests.inc({ method: verb, route: url, status }, 0)
      })
      app.addHook('onResponse', async (request, reply) => {
        // A call of a tool is counted as its POST.
        if (outerRequest()) return
        const route = request.routeOptions.url ?? 'unknown'
        requests.inc({ method: request.method, route, status: reply.statusCode })
        durations.observe({ route }, reply.elapsedTime / 1000)
      })
    },
  }
}

/**
 * Serves `/metrics` on its own address, without a key.
 * @param address port 0 takes a free port
 * @throws the error of listen, such as EADDRINUSE
 */
export async function serveMetrics({ registry }: Metrics, address: { host: string; port: number }) {
  const app = baseServer({})
  app.get('/metrics', (_request, reply) => {
    reply.type(registry.contentType)
    return registry.metrics()
  })
  await app.listen(address)
  const { port } = app.server.address() as AddressInfo
  return { port, stop: () => app.server.close().closeAllConnections() }
}
