import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError } from '@clickhouse/client'
import { execute } from '../clickhouse/client.ts'
import { newReplicasOf } from '../cluster/chooseServer.ts'
import type { ClusterNode } from '../cluster/cluster.ts'
import type { ClickHouse } from '../cluster/connection.ts'
import { createDistributedTables } from '../cluster/distributedTables.ts'
import { askNode } from '../cluster/replicaState.ts'
import { acquireLease } from '../postgres/lease.ts'
import { MigrationError } from './files.ts'
import { migrationLease } from './migrate.ts'
import { ensureRecords, type MigratedStores, readRecords, waitForWriters, withUrl } from './migrateClickHouse.ts'

/** Longer than an instance relies on a look (8 s), and than a flush of events takes (10 s). */
const announcementMs = 20_000

/**
 * Creates the tables of replicas that have replaced lost ones, and waits until each has all rows of the other replica of its shard.
 * @returns `replica http://two:8123` for each
 * @throws MigrationError when Keeper still has the lost replica, or Problem `unavailable`
 */
export async function fillReplicas(stores: MigratedStores): Promise<string[]> {
  const { clickhouse, postgres } = stores
  const added = newReplicasOf(clickhouse.cluster?.allNodes ?? [])
  if (added.length === 0) return []
  const lease = await acquireLease(postgres, migrationLease)
  try {
    await waitForWriters(stores, lease)
    // An instance that does not know of a new replica looks ids up in the other one alone, and its inserts do not wait for both. So
    // every instance finds it before it has tables: nothing that an insert with a quorum has left may be there yet.
    for (const [{ client, url }] of added) await withUrl(url, ensureRecords(client))
    await pause(announcementMs)
    for (const replica of added) await withUrl(replica[0].url, createReplica(clickhouse, ...replica))
  } finally {
    await lease.release()
  }
  // Writers may continue: they wait until both replicas have each new row.
  for (const replica of added) await withUrl(replica[0].url, fillReplica(clickhouse, ...replica))
  return added.map(([{ url }]) => `replica ${url}`)
}

/**
 * Creates the tables and views of the other replica. The files of migrations cannot: they begin with columns that the tables no longer
 * have, and insert rows.
 */
async function createReplica({ cluster, database }: ClickHouse, node: ClusterNode, source: ClusterNode): Promise<void> {
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

/** Waits until a new replica has all rows, and records that, so that its rows are read from then on. */
async function fillReplica({ cluster, onNotice }: ClickHouse, node: ClusterNode, source: ClusterNode): Promise<void> {
  onNotice?.(`ClickHouse: ${node.url} fetches the rows of ${source.url}.`)
  do {
    await pause(pollMs)
    await cluster?.look()
  } while (node.failure !== undefined || node.state?.delayS !== 0)
  const values = await readRecords(source.client)
  await node.client.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' })
  await cluster?.look()
}
