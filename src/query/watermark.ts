import { ch } from '../stores/clickhouse/sql.ts'
import type { ClusterNode } from '../stores/cluster/cluster.ts'
import { selectOnEveryNode } from '../stores/cluster/everyNode.ts'
import { assertReplicasKnown } from '../stores/cluster/replicas.ts'
import { queryPostgres } from '../stores/postgres/connection.ts'
import type { ListedResource, ReadContext } from './readContext.ts'

/**
 * Reads the watermark of an account: the time before which no more rows will be stored. Of imported rows:
 * every row with an earlier `storedAt` is visible to a query sent after this one, and no current or later batch adds another.
 * Batches are in the journal from before they are sent until they are visible, and their times ascend even if a clock is set
 * back. The value does not change while nothing is stored.
 * @returns epoch milliseconds
 */
export async function readWatermark(context: ReadContext, accountId: string, resource: ListedResource) {
  if (resource === 'events') return await readEventWatermark(context, accountId)
  const { postgres } = context.stores
  const [row] = await queryPostgres(postgres<{ watermarkMs: number }[]>`
    SELECT extract(epoch FROM coalesce(
      (SELECT min(stored_at) FROM import_batches WHERE account_id = ${accountId} AND resource = ${resource}),
      (SELECT stored_at FROM watermarks WHERE account_id = ${accountId} AND resource = ${resource})
        + interval '1 millisecond',
      created_at
    ))::float8 * 1000 AS "watermarkMs"
    FROM accounts
    WHERE id = ${accountId}`)
  return Math.round(row?.watermarkMs ?? 0)
}

/** An insert may have its time before it is listed as running. */
const marginMs = 1_000

/** Longest time from the start of an insert of events until its server knows the outcome, seconds. */
const insertMaxS = 30

/**
 * Every event with an earlier `stored_at` is visible to later queries. `stored_at` is the start of its insert by the clock of a
 * node, so this is the earliest start of the inserts that are running on any node, or of an erasure that rewrites events of the
 * account. A replica that does not respond may continue the inserts that ran when it responded last. It does not hold while a clock
 * that was set back has not caught up (docs/decisions.md, "`storedAt` only ascends").
 */
async function readEventWatermark({ stores, signal }: ReadContext, accountId: string): Promise<number> {
  const { clickhouse, postgres } = stores
  const { cluster } = clickhouse
  const query = ch`
SELECT toUnixTimestamp64Milli(now64(3)) - toInt64(ceil(maxOrDefault(elapsed) * 1000)) AS startMs
FROM system.processes
WHERE query_kind = 'Insert'
  AND position(query, 'pixel_events') > 0`
  const options = { label: 'events.watermark', signal }
  const starts = cluster?.isReplicated
    ? startsOnReplicas(cluster.nodes)
    : (await selectOnEveryNode<{ startMs: number }>(clickhouse, query, options)).map(({ startMs }) => startMs)
  // Read last: an erasure that begins after this gives its events a time later than the query above.
  const [rewrite] = await queryPostgres(postgres<{ beganAt: Date }[]>`
    SELECT began_at AS "beganAt" FROM event_rewrites WHERE account_id = ${accountId}`)
  return Math.min(...starts, rewrite?.beganAt.getTime() ?? Number.POSITIVE_INFINITY) - marginMs
}

/** @returns the earliest starts by the last look at each replica: inserts that began since are later */
function startsOnReplicas(nodes: readonly ClusterNode[]): number[] {
  assertReplicasKnown(nodes)
  const states = nodes.flatMap(({ state }) => state ?? [])
  const delayS = Math.max(...states.map((state) => state.delayS))
  // A replica may lack events of an insert that has ended: it has yet to fetch them, and their sender got no 200.
  const lackedMs = delayS > 0 ? (delayS + insertMaxS) * 1_000 : 0
  return states.map(({ eventsSinceMs }) => eventsSinceMs - lackedMs)
}
