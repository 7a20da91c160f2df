import { listExpiringKeys } from '../../accounts/expiringKeys.ts'
import type { Metrics } from '../../http/prometheusMetrics.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { isUsable } from '../../stores/cluster/chooseServer.ts'
import { silentNodesOf } from '../../stores/cluster/connection.ts'
import { selectOnEveryNode } from '../../stores/cluster/everyNode.ts'
import type { Stores } from '../../stores/open.ts'
import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import type { Redis } from '../../stores/redis.ts'

/** Adds the gauges of what is stored, and of Redis. */
export function addGauges(
  { addGauge }: Metrics,
  { clickhouse, postgres }: Pick<Stores, 'clickhouse' | 'postgres'>,
  { redis, now }: { redis: Pick<Redis, 'isUnavailable'> | undefined; now: () => number },
): void {
  addGauge(
    'clickhouse_disk_used_ratio',
    'Used part of the disk of ClickHouse, 0 to 1, in a cluster of the fullest that responds; NaN while ClickHouse is unavailable.',
    async () => {
      const query = ch`SELECT 1 - filesystemAvailable() / filesystemCapacity() AS used`
      const options = { label: 'metrics.disk' }
      const nodes = await selectOnEveryNode<{ used: number }>(clickhouse, query, options, silentNodesOf(clickhouse))
      return Math.max(...nodes.map(({ used }) => used))
    },
  )
  addGauge(
    'clickhouse_node_up',
    'In a cluster: 1 for each node that responds and has its tables, else 0. While a replica does not respond, rows are read and none are stored.',
    async () => clickhouse.cluster?.allNodes.map((node) => [{ node: node.url }, isUsable(node) ? 1 : 0]) ?? [],
    ['node'],
  )
  addGauge(
    'sums_unconfirmed_age_seconds',
    'Seconds since the oldest import batch was sent that is not confirmed in its table and all sums tables; 0 when there is none, NaN while Postgres is unavailable.',
    () => oldestBatchAgeS(postgres),
  )
  addGauge(
    'api_keys_expiring',
    'Valid API keys that expire within 7 days and have not been rotated; NaN while Postgres is unavailable.',
    async () => (await listExpiringKeys(postgres, now())).length,
  )
  addGauge(
    'newest_row_age_seconds',
    'Seconds since the newest click, conversion or cost of any account was stored, by resource; absent without rows, and while Postgres is unavailable.',
    async () => (await newestRowAges(postgres)).map(({ resource, ageS }) => [{ resource }, ageS]),
    ['resource'],
  )
  if (!redis) return
  addGauge(
    'redis_up',
    '1 when Redis responded to the last request, else 0; while 0, RATE_LIMIT_WITHOUT_REDIS applies.',
    async () => (redis.isUnavailable ? 0 : 1),
  )
}

async function newestRowAges(postgres: Postgres): Promise<{ resource: string; ageS: number }[]> {
  return await queryPostgres(postgres<{ resource: string; ageS: number }[]>`
    SELECT resource, EXTRACT(EPOCH FROM clock_timestamp() - max(last_row_at))::float8 AS "ageS"
    FROM watermarks
    WHERE last_row_at IS NOT NULL
    GROUP BY resource`)
}

/** The journal has a batch from before it is sent until it is confirmed; one that remains belongs to a crashed import. */
async function oldestBatchAgeS(postgres: Postgres): Promise<number> {
  const [row] = await queryPostgres(postgres<{ ageS: number }[]>`
    SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(created_at)), 0)::float8 AS "ageS"
    FROM import_batches`)
  return row?.ageS ?? Number.NaN
}
