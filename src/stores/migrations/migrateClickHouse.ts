import { setTimeout as pause } from 'node:timers/promises'
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { Problem } from '../../problem.ts'
import { type Client, execute, keepAliveSettings } from '../clickhouse/client.ts'
import { areMutationsDone } from '../clickhouse/mutations.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import { newReplicasOf } from '../cluster/chooseServer.ts'
import { waitForClickHouseClock } from '../cluster/clock.ts'
import { type ClickHouse, silentNodesOf } from '../cluster/connection.ts'
import {
  areDistributedTablesMissing,
  createDistributedTables,
  shardsOf,
  tablesOf,
} from '../cluster/distributedTables.ts'
import { replicatedStatement } from '../cluster/replicatedTables.ts'
import type { Stores } from '../open.ts'
import { queryPostgres } from '../postgres/connection.ts'
import { expireAndCheckHolder, type Lease, LeaseLost } from '../postgres/lease.ts'
import { retryWhileUnavailable } from '../timing/retry.ts'
import {
  findPending,
  type Migration,
  MigrationError,
  type MigrationRecord,
  readMigrations,
  recordOf,
  splitStatements,
} from './files.ts'

/**
 * Whether all files have run to their end, on every node of a cluster that responds and is no new replica. It changes nothing, so
 * it may be read while files of a later version run.
 * @throws MigrationError, or Problem `unavailable`
 */
export async function isClickHouseCurrent(clickhouse: ClickHouse, root: string): Promise<boolean> {
  const files = await readMigrations(root, 'clickhouse')
  await clickhouse.cluster?.look()
  await assertNodesAgree(clickhouse)
  for (const { node } of targetsOf(clickhouse)) {
    if (findPending('clickhouse', files, await readRecords(node)).length > 0) return false
  }
  return !clickhouse.cluster || !(await areDistributedTablesMissing(clickhouse.cluster, clickhouse.database))
}

/**
 * A replica without the views of a file would store rows without their sums.
 * @throws Problem `unavailable` for a node that does not respond
 */
export async function assertNodesRespond({ cluster }: ClickHouse): Promise<void> {
  await cluster?.look()
  const [silent] = silentNodesOf({ cluster })
  if (!silent) return
  const message = `${silent.url} is unavailable, and a migration changes every node: start it, or remove a lost replica as "tributary doctor" says.`
  throw new Problem('unavailable', message)
}

/**
 * Runs the pending files on the server, or on each node of the cluster, one file after the other. Statements may run again, as
 * ClickHouse has no transactions for them. A file is recorded before its first statement, so that programs which do not know
 * the file see what they may do, and again after its last statement. A later run continues.
 * @param lease the migration lease; no writer is active while it is held
 * @returns the files that ran, such as `clickhouse/0001_baseline.sql`
 * @throws MigrationError, or Problem `unavailable`, also for a node that does not respond
 */
export async function migrateClickHouse(clickhouse: ClickHouse, lease: Lease, root: string): Promise<string[]> {
  const files = await readMigrations(root, 'clickhouse')
  await assertNodesAgree(clickhouse)
  await assertNodesRespond(clickhouse)
  const targets: (Target & { pending: Migration[] })[] = []
  for (const target of targetsOf(clickhouse)) {
    await withUrl(target.url, ensureRecords(target.node))
    targets.push({ ...target, pending: findPending('clickhouse', files, await readRecords(target.node)) })
  }
  const ran = files.filter((file) => targets.some(({ pending }) => pending.includes(file)))
  for (const file of ran) {
    const nodes = targets.filter(({ pending }) => pending.includes(file))
    // First on all nodes: a replica without records, beside one that has them, counts as a new one.
    for (const { node } of nodes) await record(node, file, false, lease)
    for (const target of nodes) await withUrl(target.url, runFile(target, file, lease))
    await distribute(clickhouse, targets)
    for (const { node } of nodes) await record(node, file, true, lease)
  }
  if (ran.length === 0) await distribute(clickhouse, targets)
  return ran.map(({ name }) => `clickhouse/${name}`)
}

type Target = ReturnType<typeof targetsOf>[number]

/** No statement waits for the mutation that it begins, which may take longer than a connection stays open. */
const settings: ClickHouseSettings = { ...keepAliveSettings, mutations_sync: '0', alter_sync: '0' }

/**
 * Servers or nodes, each with its own tables and its own records. `adapt` returns a statement of a migration as the node runs it, undefined
 * to skip it; `url` is empty if the server is not part of a cluster.
 */
function targetsOf({ client, cluster }: ClickHouse) {
  if (!cluster) return [{ node: client, url: '', adapt: (statement: string) => statement, settings }]
  const { isReplicated } = cluster
  const added = newReplicasOf(cluster.nodes).map(([node]) => node)
  const nodes = cluster.nodes.filter((node) => node.failure === undefined && !added.includes(node))
  const isFirst = (index: number) => nodes.findIndex(({ shard }) => shard === nodes[index]?.shard) === index
  return nodes.map(({ client: node, url }, index) => ({
    node,
    url,
    adapt: (statement: string) => (isReplicated ? replicatedStatement(statement, isFirst(index)) : statement),
    // A replica has a new column only some time later.
    settings: isReplicated ? { ...settings, alter_sync: '1' } : settings,
  }))
}

export type MigratedStores = Pick<Stores, 'clickhouse' | 'postgres'>

/**
 * Waits for the end of imports: a table that is filled from another may neither miss a row that arrives meanwhile nor repeat it.
 * @param lease the migration lease; no writer starts while it is held
 * @throws MigrationError, or Problem `unavailable`
 */
export async function waitForWriters({ clickhouse, postgres }: MigratedStores, lease: Lease): Promise<void> {
  // Writers of 1.0 and 1.1 hold a lease for each account.
  for (const pattern of ['writer:%', 'process:%']) {
    await waitUntil('looking for writers', lease, async () => !(await expireAndCheckHolder(postgres, pattern)))
  }
  // A suspended writer may still send the statement that it was about to send, until its deadline.
  const [row] = await queryPostgres(postgres<{ latest: Date | null }[]>`
    SELECT max(statement_deadline) AS latest FROM leases WHERE name LIKE 'writer:%' OR name LIKE 'process:%'`)
  const latestMs = row?.latest?.getTime()
  if (latestMs === undefined) return
  await retryWhileUnavailable('waiting for interrupted writers', () => waitForClickHouseClock(clickhouse, latestMs))
}

/** @throws MigrationError, or Problem `unavailable` */
async function waitUntil(step: string, lease: Lease, isOver: () => Promise<boolean>): Promise<void> {
  while (!(await retryWhileUnavailable(step, isOver))) {
    await pause(250)
    await assertLeaseHeld(lease)
  }
}

/** @throws MigrationError, or Problem `unavailable` */
async function assertLeaseHeld(lease: Lease): Promise<void> {
  await retryWhileUnavailable('confirming the migration lease', () => lease.assertHeld()).catch((error) => {
    if (!(error instanceof LeaseLost)) throw error
    throw new MigrationError('another process has continued the migration; run it again.')
  })
}

async function distribute({ cluster, database }: ClickHouse, targets: readonly Target[]): Promise<void> {
  if (!cluster) return
  for (const { node, url } of targets) await withUrl(url, createDistributedTables(node, cluster, database))
}

/** Says which node failed, and what to do if the user may not change tables. */
export async function withUrl<Outcome>(url: string, work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ClickHouseError && error.type === 'ACCESS_DENIED') {
      throw new MigrationError(
        'CLICKHOUSE_URL: the tables are not of this version, and the user may not change them; run "tributary migrate" as their owner, with the grants of docs/clickhouse-users.sql.',
      )
    }
    if (url === '' || error instanceof MigrationError || error instanceof Problem) throw error
    throw new MigrationError(`${url}: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

/** A row on another shard than its next version would count twice. @throws MigrationError */
async function assertNodesAgree({ client, cluster, database }: ClickHouse): Promise<void> {
  const responding = cluster?.allNodes.filter(({ failure }) => failure === undefined)
  for (const node of responding ?? [{ client, url: '' }]) {
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

async function runFile({ node, adapt, settings }: Target, file: Migration, lease: Lease): Promise<void> {
  for (const statement of splitStatements(file.sql)) {
    const query = adapt(statement)
    await assertLeaseHeld(lease)
    if (!query) continue
    const isBehind = ({ type }: ClickHouseError) => type === 'CANNOT_ASSIGN_ALTER'
    await waitUntil('applying earlier changes of a table', lease, () =>
      execute(node, { query, clickhouse_settings: settings }).then(
        () => true,
        // A replica has yet to apply a change that another one has made.
        (error) => !isBehind(error) && Promise.reject(error),
      ),
    )
    if (!/^ALTER TABLE\b/m.test(query)) continue
    await waitUntil('waiting for mutations', lease, () => areMutationsDone([node], ch`true`, { label: 'migrate' }))
  }
}

async function record(node: ClickHouseClient, file: Migration, isComplete: boolean, lease: Lease): Promise<void> {
  await assertLeaseHeld(lease)
  const values = [{ ...recordOf(file), is_complete: isComplete }]
  await node.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' })
}

/** @returns no records if the table does not exist yet @throws Problem like `selectRows` */
export async function readRecords(reader: Client): Promise<MigrationRecord[]> {
  try {
    const query = ch`SELECT * FROM schema_migrations FINAL`
    return await selectRows({ reader }, query, { label: 'migrate.records' })
  } catch (error) {
    if (error instanceof ClickHouseError && error.type === 'UNKNOWN_TABLE') return []
    throw error
  }
}

export async function ensureRecords(node: ClickHouseClient): Promise<void> {
  await execute(node, {
    query: `
      CREATE TABLE IF NOT EXISTS schema_migrations
      (name String, checksum String, version String, commit String, readable_from String, writable_from String,
        is_complete Bool, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = ReplacingMergeTree(is_complete) ORDER BY name
      SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  })
}
