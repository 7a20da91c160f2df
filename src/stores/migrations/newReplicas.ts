import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError } from '@clickhouse/client'
import { execute } from '../clickhouse/client.ts'
import type { ClusterNode } from '../clickhouse/cluster.ts'
import type { ClickHouse } from '../clickhouse/connection.ts'
import { createDistributedTables } from '../clickhouse/distributedTables.ts'
import { askNode } from '../clickhouse/replicaState.ts'
import { MigrationError } from './files.ts'
import { ensureRecords, readRecords, withUrl } from './migrateClickHouse.ts'

/** Longer than an instance relies on a look (8 s), and than a flush of events takes (10 s). */
const announcementMs = 20_000

/**
 * Lets every instance know of new replicas before they have tables. An instance that does not know of one looks ids up in the other
 * replica alone, and its inserts do not wait for both: so nothing that an insert with a quorum has left may be there yet.
 */
export async function announceReplicas(replicas: readonly (readonly [added: ClusterNode, source: ClusterNode])[]) {
  for (const [{ client, url }] of replicas) await withUrl(url, ensureRecords(client))
  if (replicas.length > 0) await pause(announcementMs)
}

/**
 * Creates the tables and views of the other replica. The files of migrations cannot: they begin with columns that the tables no longer
 * have, and insert rows.
 * @throws MigrationError when Keeper still has the lost replica
 */
export async function createReplica(
  { cluster, database }: ClickHouse,
  node: ClusterNode,
  source: ClusterNode,
): Promise<void> {
  const query = `
    SELECT create_table_query AS statement
    FROM system.tables
    WHERE database = currentDatabase() AND name != 'schema_migrations'
    ORDER BY engine = 'MaterializedView', name`
  try {
    for (const { statement } of await askNode<{ statement: string }>(source.client, query))
      await execute(node.client, { query: statement.replace(/^CREATE (TABLE|MATERIALIZED VIEW)/, '$& IF NOT EXISTS') })
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'REPLICA_ALREADY_EXISTS')) throw error
    throw new MigrationError(
      `${node.url}: Keeper still has the replica that this one replaces; remove it as "tributary doctor" says.`,
    )
  }
  if (cluster) await createDistributedTables(node.client, cluster, database)
}

/** Parts that are to be fetched have an age from the next second on. */
const pollMs = 2_000
const announceAfterPolls = 5

/** Waits until a new replica has all rows, and records that, so that its rows are read from then on. @returns its name */
export async function fillReplica(clickhouse: ClickHouse, node: ClusterNode, source: ClusterNode): Promise<string> {
  for (let polls = 0, isFilled = false; !isFilled; polls++) {
    if (polls === announceAfterPolls)
      clickhouse.onNotice?.(`ClickHouse: ${node.url} fetches the rows of ${source.url}.`)
    await pause(pollMs)
    await clickhouse.cluster?.look()
    isFilled = node.failure === undefined && node.state?.delayS === 0
  }
  const values = await readRecords(source.client)
  await node.client.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' })
  await clickhouse.cluster?.look()
  return `replica ${node.url}`
}
