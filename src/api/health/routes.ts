import type { App, RouteContext } from '../../http/context.ts'
import { Problem } from '../../problem.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { silentNodesOf } from '../../stores/cluster/connection.ts'
import type { Redis } from '../../stores/redis.ts'
import { withDeadline } from '../../stores/timing/deadline.ts'

/**
 * Liveness and readiness probes for an orchestrator; they need no API key.
 * @param redis given where requests fail without it
 */
export function healthRoutes(app: App, { stores, now }: RouteContext, redis: Redis | undefined): void {
  const assertReady = openReadiness(stores, redis, now)

  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'alive' }))

  app.get('/readyz', { schema: { hide: true } }, async () => {
    await assertReady()
    const silent = silentNodesOf(stores.clickhouse).map(({ url }) => url)
    return { status: 'ready', ...(silent.length > 0 && { unavailableNodes: silent }) }
  })
}

/** A store that takes longer to respond is not ready. */
const timeoutMs = 2_000
/** Requests need no key, so stores are checked at most once in this time. */
const ttlMs = 1_000

/**
 * Checks whether both stores respond, and Redis if requests need it; concurrent requests share one check.
 * @returns throws Problem `unavailable`, naming the stores that did not respond
 */
function openReadiness({ clickhouse, postgres }: RouteContext['stores'], redis: Redis | undefined, now: () => number) {
  const checks: Record<string, (signal: AbortSignal) => PromiseLike<unknown>> = {
    // A query on a table waits for every shard.
    ClickHouse: (signal) =>
      selectRows(clickhouse, ch`SELECT 1 FROM clicks WHERE account_id = '' LIMIT 1`, { label: 'ready', signal }),
    Postgres: () => postgres`SELECT 1`,
    ...(redis && { Redis: () => redis.ping() }),
  }
  const late = () => new Error(`no response within ${timeoutMs} ms`)
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let unavailable: Promise<string[]> = Promise.resolve([])

  async function findUnavailable(): Promise<string[]> {
    const running = Object.values(checks).map((check) => withDeadline(timeoutMs, late, check))
    const results = await Promise.allSettled(running)
    return Object.keys(checks).filter((_, index) => results[index]?.status === 'rejected')
  }

  return async () => {
    const ageMs = now() - checkedAtMs
    // Below 0 the clock was set back.
    if (ageMs < 0 || ageMs >= ttlMs) {
      checkedAtMs = now()
      unavailable = findUnavailable()
    }
    const names = await unavailable
    if (names.length === 0) return
    throw new Problem('unavailable', `Not ready: ${names.join(' and ')} did not respond.`, { retryAfterS: 1 })
  }
}
