import { setTimeout as pause } from 'node:timers/promises'
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { version } from '../../package.ts'
import { Problem } from '../../problem.ts'
import { execute } from '../clickhouse/client.ts'
import { waitForClickHouseClock } from '../clickhouse/clock.ts'
import type { Cluster } from '../clickhouse/cluster.ts'
import { type ClickHouse, keepAliveSettings } from '../clickhouse/connection.ts'
import { createDistributedTables, shardsOf, tablesOf } from '../clickhouse/distributedTables.ts'
import { replicatedStatement } from '../clickhouse/replicatedTables.ts'
import { type Postgres, queryPostgres } from '../postgres/connection.ts'
import { expireAndCheckHolder, type Lease, LeaseLost } from '../postgres/lease.ts'
import { retryWhileUnavailable } from '../timing/retry.ts'
import {
  type AppliedMigration,
  findPending,
  type Migration,
  MigrationError,
  readMigrations,
  splitStatements,
} from './files.ts'

/**
 * Runs the pending files on the server, or on each node of the cluster.
 * @param lease the migration lease; no writer starts while it is held
 * @returns the files that ran, such as `clickhouse/0001_baseline.sql`
 * @throws MigrationError, or Problem `unavailable`
 */
export async function migrateClickHouse(stores: MigratedStores, lease: Lease, root: string): Promise<string[]> {
  const { client, cluster, database } = stores.clickhouse
  const files = await readMigrations(root, 'clickhouse')
  await assertNodesAgree(stores.clickhouse)
  const run = (node: ClickHouseClient, adapt: Adapt) => runPending(node, files, stores, lease, adapt)
  return cluster ? await migrateCluster(cluster, database, run) : await run(client, (statement) => statement)
}

/** @returns a statement of a migration as a node runs it, undefined to skip it */
type Adapt = (statement: string) => string | undefined

export interface MigratedStores {
  clickhouse: ClickHouse
  postgres: Postgres
}

/** Waits for the end of imports: a table that is filled from another may neither miss a row that arrives meanwhile nor repeat it. */
async function waitForWriters({ clickhouse, postgres }: MigratedStores, lease: Lease): Promise<void> {
  while (await retryWhileUnavailable('looking for writers', () => expireAndCheckHolder(postgres, 'writer:%'))) {
    await pause(250)
    await assertLeaseHeld(lease)
  }
  // A suspended writer may still send the statement that it was about to send, until its deadline.
  const [row] = await queryPostgres(postgres<{ latest: Date | null }[]>`
    SELECT max(statement_deadline) AS latest FROM leases WHERE name LIKE 'writer:%'`)
  const latestMs = row?.latest?.getTime()
  if (latestMs === undefined) return
  await retryWhileUnavailable('waiting for interrupted writers', () => waitForClickHouseClock(clickhouse, latestMs))
}

/** @throws MigrationError, or Problem `unavailable` */
async function assertLeaseHeld(lease: Lease): Promise<void> {
  try {
    await retryWhileUnavailable('confirming the migration lease', () => lease.assertHeld())
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
    throw new MigrationError('another process has continued the migration; run it again.')
  }
}

/** Runs the files on one node after the other, each with its own record, then creates the distributed tables. A later run continues. */
async function migrateCluster(
  cluster: Cluster,
  database: string,
  run: (node: ClickHouseClient, adapt: Adapt) => Promise<string[]>,
): Promise<string[]> {
  const ran = new Set<string>()
  for (const node of cluster.nodes) {
    const adapt = (statement: string) =>
      cluster.isReplicated ? replicatedStatement(statement, node.isFirst) : statement
    for (const name of await withNodeName(node, run(node.client, adapt))) ran.add(name)
  }
  for (const node of cluster.nodes) await withNodeName(node, createDistributedTables(node.client, cluster, database))
  return [...ran]
}

async function withNodeName<Outcome>({ url }: { url: string }, work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work
  } catch (error) {
    if (error instanceof MigrationError || error instanceof Problem) throw error
    throw new MigrationError(`${url}: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

/** A row on another shard than its next version would count twice. @throws MigrationError */
async function assertNodesAgree({ client, cluster, database }: ClickHouse): Promise<void> {
  for (const node of cluster?.nodes ?? [{ client, url: '' }]) {
    for (const { engine, comment } of await tablesOf(node.client, database)) {
      const isDistributed = engine === 'Distributed'
      if (cluster && !isDistributed) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the database ${database} of ${node.url} contains the tables of a single server; docs/scaling.md describes how to move its rows.`,
        )
      }
      if (!cluster && isDistributed) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the tables of the database ${database} are distributed over a cluster; set its name.`,
        )
      }
      if (cluster && comment !== shardsOf(cluster)) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the rows of ${database} are distributed over ${comment}, the cluster now has ${shardsOf(cluster)}; docs/scaling.md describes how to move rows.`,
        )
      }
    }
  }
}

/** Statements may run again, as ClickHouse has no transactions for them; a file is recorded after its last statement. */
async function runPending(
  client: ClickHouseClient,
  files: readonly Migration[],
  stores: MigratedStores,
  lease: Lease,
  adapt: Adapt,
): Promise<string[]> {
  const pending = findPending('clickhouse', files, await readApplied(client))
  if (pending.length > 0) await waitForWriters(stores, lease)
  for (const { name, sql, checksum } of pending) {
    for (const statement of splitStatements(sql)) {
      const query = adapt(statement)
      await assertLeaseHeld(lease)
      if (query) await execute(client, { query, clickhouse_settings: keepAliveSettings })
    }
    await assertLeaseHeld(lease)
    await client.insert({ table: 'schema_migrations', values: [{ name, checksum, version }], format: 'JSONEachRow' })
  }
  return pending.map(({ name }) => `clickhouse/${name}`)
}

/** Creates the table only where it is missing, so that a check without pending files needs no right to define tables. */
async function readApplied(client: ClickHouseClient): Promise<AppliedMigration[]> {
  try {
    const query = 'SELECT * FROM schema_migrations FINAL'
    return await (await client.query({ query, format: 'JSONEachRow' })).json()
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_TABLE')) throw error
  }
  await client.command({
    query: `
      CREATE TABLE IF NOT EXISTS schema_migrations
      (name String, checksum String, version String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = ReplacingMergeTree ORDER BY name
      SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  })
  return []
}
