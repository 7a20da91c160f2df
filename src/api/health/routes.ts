import type { App, RouteContext } from '../../http/context.ts'
import { Problem } from '../../problem.ts'
import { selectRows } from '../../stores/clickhouse/select.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import type { Stores } from '../../stores/open.ts'
import type { Redis } from '../../stores/redis.ts'
import { RefreshingCache } from '../../stores/refreshingCache.ts'
import { withDeadline } from '../../stores/timing/deadline.ts'

/**
 * Liveness and readiness probes for an orchestrator; they need no API key.
 * @param redis given where requests fail without it
 */
export function healthRoutes(app: App, { stores, now }: RouteContext, redis: Redis | undefined): void {
  const assertReady = openReadiness({ ...stores, redis }, now)

  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'alive' }))

  app.get('/readyz', { schema: { hide: true } }, async () => {
    await assertReady()
    return { status: 'ready' }
  })
}

/** A store that takes longer to respond is not ready. */
const deadlineMs = 2_000
/** Requests need no key, so stores are checked at most once in this time. */
const ttlMs = 1_000

/** A store, and how to check its readiness. */
interface CheckedStore {
  name: string
  check(signal: AbortSignal): PromiseLike<unknown>
}

/**
 * Checks whether both stores respond, and Redis if requests need it; concurrent requests share one check.
 * @returns throws Problem `unavailable`, naming the stores that did not respond
 */
function openReadiness(
  { clickhouse, postgres, redis }: Pick<Stores, 'clickhouse' | 'postgres'> & { redis: Redis | undefined },
  now: () => number,
): () => Promise<void> {
  const stores: CheckedStore[] = [
    { name: 'ClickHouse', check: (signal) => queryEveryShard(clickhouse, signal) },
    { name: 'Postgres', check: () => postgres`SELECT 1` },
    ...(redis ? [{ name: 'Redis', check: () => redis.ping() }] : []),
  ]
  const responses = new RefreshingCache<CheckedStore, boolean>({
    max: stores.length,
    refreshMs: ttlMs,
    ttlMs,
    now,
    keyOf: ({ name }) => name,
    read: isResponsive,
  })

  return async () => {
    const areResponsive = await Promise.all(stores.map((store) => responses.find(store)))
    const unavailable = stores.filter((_, index) => !areResponsive[index]).map(({ name }) => name)
    if (unavailable.length === 0) return
    throw new Problem('unavailable', `Not ready: ${unavailable.join(' and ')} did not respond.`, { retryAfterS: 1 })
  }
}

/** A query on a table waits for every shard. */
function queryEveryShard(clickhouse: Stores['clickhouse'], signal: AbortSignal): Promise<unknown> {
  return selectRows(clickhouse, ch`SELECT 1 FROM clicks WHERE account_id = '' LIMIT 1`, { label: 'ready', signal })
}

async function isResponsive({ check }: CheckedStore): Promise<boolean> {
  const late = () => new Error(`no response within ${deadlineMs} ms`)
  return await withDeadline(deadlineMs, late, check).then(
    () => true,
    () => false,
  )
}
