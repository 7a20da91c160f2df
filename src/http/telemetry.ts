import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from './context.ts'

/** The figures of this process, for Prometheus. */
export interface Telemetry {
  readonly registry: Registry
  /** Counts and times every answer of a server. */
  observe(app: App): void
  /** Counts a request that a limit refused. */
  readonly countDenial: (limit: string) => void
  /** Times a question or an insert of ClickHouse. */
  readonly timeQuery: (label: string, seconds: number) => void
  /** Counts an answer of stats and reports by where it came from. */
  readonly countResponse: (from: string) => void
  /** Shows from now on whether Redis answers. */
  readonly watchRedis: (isAway: () => boolean) => void
  /** Shows from now on how long the sums of imports have been unconfirmed. */
  readonly watchRollups: (ageS: () => Promise<number>) => void
}

/** From cached answers to the time limit of queries. */
const durationBucketsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** Opens the figures: those of Node itself, and the answers by route and status. */
export function openTelemetry(): Telemetry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answers by method, route and status; unknown paths have the route "unknown".',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds from the first byte of a request to the last of its answer, by route.',
    labelNames: ['route'],
    buckets: durationBucketsS,
    registers: [registry],
  })
  const denials = new Counter({
    name: 'rate_limit_denials_total',
    help: 'Requests refused with 429, by what was counted: key, address, identifier (a click or visitor), queries (reads at once).',
    labelNames: ['limit'],
    registers: [registry],
  })
  const queries = new Histogram({
    name: 'clickhouse_query_duration_seconds',
    help: 'Seconds that questions to ClickHouse and inserts took, failed ones included, by label (their log_comment there).',
    labelNames: ['label'],
    buckets: durationBucketsS,
    registers: [registry],
  })
  const answers = new Counter({
    name: 'report_answers_total',
    help: 'Answers of stats and reports: kept (from memory), shared (with a caller that asked the same at once), run.',
    labelNames: ['from'],
    registers: [registry],
  })
  return {
    registry,
    timeQuery: (label, seconds) => queries.observe({ label }, seconds),
    countResponse: (from) => answers.inc({ from }),
    watchRedis(isAway) {
      new Gauge({
        name: 'redis_up',
        help: 'Whether Redis answered when it was last asked; while it does not, RATE_LIMIT_WITHOUT_REDIS holds.',
        registers: [registry],
        collect() {
          this.set(isAway() ? 0 : 1)
        },
      })
    },
    watchRollups(ageS) {
      new Gauge({
        name: 'rollups_unconfirmed_age_seconds',
        help: 'Seconds since the oldest batch of an import was sent that is not confirmed in its table and every sum; 0 when there is none, NaN while Postgres does not answer.',
        registers: [registry],
        async collect() {
          this.set(await ageS())
        },
      })
    },
    countDenial: (limit) => denials.inc({ limit }),
    observe(app) {
      app.addHook('onResponse', async (request, reply) => {
        const route = request.routeOptions.url ?? 'unknown'
        requests.inc({ method: request.method, route, status: reply.statusCode })
        durations.observe({ route }, reply.elapsedTime / 1000)
      })
    },
  }
}

/**
 * Serves `/metrics` apart from the API, on loopback only: it needs no key.
 * @param wanted the port; 0 takes a free one
 * @throws the error of listen, such as EADDRINUSE
 */
export async function serveTelemetry(
  { registry }: Telemetry,
  wanted: number,
): Promise<{ port: number; stop: () => void }> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    response.setHeader('Content-Type', registry.contentType)
    response.end(await registry.metrics())
  })
  server.listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
