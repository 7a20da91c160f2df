import { ClickHouseError } from '@clickhouse/client'
import { Problem } from '../../problem.ts'
import type { Client } from '../clickhouse/client.ts'
import { runStatement } from '../clickhouse/insert.ts'
import { type QueryOptions, selectRows } from '../clickhouse/select.ts'
import { ch, type Fragment, identifier } from '../clickhouse/sql.ts'
import type { ClusterNode } from './cluster.ts'
import type { ClickHouse } from './connection.ts'

const label = 'replicas'

/** Longest wait of one statement: less than the client's timeout. */
const synchronizeS = 20

/**
 * Waits for some time until both replicas of each shard have the rows of every statement that has ended, and know its mutations. Every node
 * then reads the same rows. A failed insert may have left rows on one replica: the other replica fetches them, or both discard them.
 * @param which condition on `system.replicas`
 * @returns whether they have them; true without replicas
 * @throws Problem `unavailable` when a replica does not respond
 */
export async function areReplicasEqual({ cluster }: ClickHouse, which = ch`true`): Promise<boolean> {
  if (!cluster?.isReplicated) return true
  // Twice: after one replica has answered, it may lose its session, and the other one then decides that a row is discarded.
  for (let round = 0; round < 2; round++) {
    if (!(await Promise.all(cluster.nodes.map(({ client }) => hasAllRows(client, which)))).every(Boolean)) return false
  }
  return true
}

async function hasAllRows(client: Client, which: Fragment): Promise<boolean> {
  // ClickHouse checks a part whose registration in Keeper is not known, after five minutes, and may discard it.
  const query = ch`
SELECT table, parts_to_check > 0 AS isChecked FROM system.replicas WHERE database = currentDatabase() AND ${which}`
  type Table = { table: string; isChecked: number }
  const settings = { receive_timeout: synchronizeS }
  try {
    const tables = await selectRows<Table>({ reader: client }, query, { label })
    if (tables.length === 0) throw hasNoTables()
    if (tables.some(({ isChecked }) => isChecked)) return false
    await Promise.all(
      tables.map(({ table }) =>
        runStatement(client, ch`SYSTEM SYNC REPLICA ${identifier(table)} LIGHTWEIGHT`, label, { settings }),
      ),
    )
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'query_timeout') return false
    throw asUnavailable(error)
  }
}

/**
 * Of a replica that has not said how it is since the start, the shard and the running inserts are unknown: which replica must have the same
 * rows, and which events may still be stored.
 * @throws Problem `unavailable`
 */
export function assertReplicasKnown(nodes: readonly Pick<ClusterNode, 'state'>[]): void {
  if (nodes.every(({ state }) => state !== undefined)) return
  throw new Problem('unavailable', 'A replica of ClickHouse has not responded yet.', { retryAfterS: 2 })
}

function asUnavailable(error: unknown): unknown {
  const isEmpty = error instanceof ClickHouseError && /^UNKNOWN_(TABLE|DATABASE)$/.test(`${error.type}`)
  return isEmpty ? hasNoTables() : error
}

/** As when its disk is lost. */
function hasNoTables(): Problem {
  return new Problem('unavailable', 'A replica of ClickHouse has no tables; see "tributary doctor".', {
    retryAfterS: 5,
  })
}

/** A row, and whether every replica of its shard has it: otherwise it may still be discarded. */
export interface ReplicatedRow<Row> {
  row: Row
  isOnAll: boolean
}

/**
 * Runs a SELECT on every replica, for look-ups that decide what is stored. It uses the connections of writes: it does not wait for reads
 * of callers.
 * @param keyOf tells the rows apart
 * @returns each row once; without replicas, what `selectRows` returns
 * @throws Problem like `selectRows`, also when one replica does not respond
 */
export async function selectOnReplicas<Row>(
  { client, cluster, onQuery }: Pick<ClickHouse, 'client' | 'cluster' | 'onQuery'>,
  query: Fragment,
  keyOf: (row: Row) => string,
  options: QueryOptions,
): Promise<ReplicatedRow<Row>[]> {
  if (!cluster?.isReplicated) {
    return (await selectRows<Row>({ reader: client, onQuery }, query, options)).map((row) => ({ row, isOnAll: true }))
  }
  assertReplicasKnown(cluster.nodes)
  const read = async ({ client: reader, shard }: ClusterNode) => {
    const rows = await selectRows<Row>({ reader, onQuery }, query, options)
    return { shard, rows: new Map(rows.map((row) => [keyOf(row), row])) }
  }
  const nodes = await Promise.all(cluster.nodes.map(read)).catch((error) => {
    throw asUnavailable(error)
  })
  const found = new Map<string, ReplicatedRow<Row>>()
  for (const { shard, rows } of nodes) {
    const replicas = nodes.filter((node) => node.shard === shard)
    for (const [key, row] of rows) found.set(key, { row, isOnAll: replicas.every((node) => node.rows.has(key)) })
  }
  return [...found.values()]
}
