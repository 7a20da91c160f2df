import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { packageRoot } from '../../package.ts'
import { Problem } from '../../problem.ts'
import { untilClickHouseClock } from '../clickhouse/clock.ts'
import type { Cluster, ClusterNode } from '../clickhouse/cluster.ts'
import { type ClickHouse, isUnknownTable, keepAliveSettings } from '../clickhouse/connection.ts'
import { createDistributedTables, shardsOf, tablesOf } from '../clickhouse/distributedTables.ts'
import { replicatedStatement } from '../clickhouse/replicatedTables.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import { type Postgres, queryPostgres } from '../postgres/connection.ts'
import { acquireLease, isHeld, type Lease, LeaseLost } from '../postgres/lease.ts'
import { execute } from '../postgres/statement.ts'
import { retryWhileUnavailable } from '../retry.ts'

/** A migration that cannot be run; the message is one line. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

/** One SQL file: its name orders it, its checksum shows that it was not edited after it ran. */
interface Migration {
  name: string
  sql: string
  checksum: string
}

/** What a store notes of a file that ran. */
type Applied = Pick<Migration, 'name' | 'checksum'>

/**
 * Brings both stores to the current schema: each file of `postgres/` and `clickhouse/` once, in the order of their names.
 * Safe when several instances start together: one runs them, the others wait and find nothing to do.
 * @returns the files that were run, such as `clickhouse/0001_clicks.sql`
 * @throws MigrationError when a file that ran before has changed or is missing
 */
export async function migrate(stores: { clickhouse: ClickHouse; postgres: Postgres }): Promise<string[]> {
  const ranInPostgres = await migratePostgres(stores.postgres)
  const lease = await acquireLease(stores.postgres, migrationLease)
  try {
    return [...ranInPostgres, ...(await migrateClickHouse(stores, lease))]
  } finally {
    await lease.release()
  }
}

/** Whoever migrates ClickHouse holds it, and nobody begins to write meanwhile. */
export const migrationLease = 'migrate'

/**
 * Makes sure that the stores are as this version brought them to: a process that waited for its turn may have been
 * overtaken by a newer one, whose rows it would not know how to write.
 * @throws MigrationError, or Problem `unavailable`
 */
export async function assertCurrent({ clickhouse, postgres }: Parameters<typeof migrate>[0]): Promise<void> {
  const [ranInPostgres, ranInClickHouse] = await Promise.all([
    queryPostgres(postgres<Applied[]>`SELECT name, checksum FROM schema_migrations`),
    selectRows<Applied>(
      { reader: clickhouse.cluster?.nodes[0]?.client ?? clickhouse.client, onQuery: undefined },
      ch`SELECT name, checksum FROM schema_migrations FINAL`,
      { label: 'migrate.current' },
    ),
  ])
  for (const [store, applied] of [
    ['postgres', ranInPostgres],
    ['clickhouse', ranInClickHouse],
  ] as const) {
    const [missing] = pendingOf(store, await readMigrations(store), applied)
    if (missing) throw new MigrationError(`${store}/${missing.name} has not run on this store; run: tributary migrate.`)
  }
}

/** All pending files in one transaction, behind a lock that ends with it: it is all of them or none. */
async function migratePostgres(postgres: Postgres): Promise<string[]> {
  const files = await readMigrations('postgres')
  return await postgres.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('tributary migrate'))`
    await transaction`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = await transaction<Applied[]>`
      SELECT name, checksum FROM schema_migrations`
    const pending = pendingOf('postgres', files, applied)
    for (const { name, sql, checksum } of pending) {
      await transaction.unsafe(sql)
      await transaction`INSERT INTO schema_migrations (name, checksum) VALUES (${name}, ${checksum})`
    }
    return pending.map(({ name }) => `postgres/${name}`)
  })
}

async function migrateClickHouse(
  { clickhouse, postgres }: Parameters<typeof migrate>[0],
  lease: Lease,
): Promise<string[]> {
  const files = await readMigrations('clickhouse')
  await assertNodesAgree(clickhouse)
  const { cluster } = clickhouse
  const turn = { begin: () => waitForWriters({ clickhouse, postgres }, lease), confirm: () => assertLeaseHeld(lease) }
  return cluster
    ? await migrateCluster(cluster, clickhouse.database, files, turn)
    : await runPending(clickhouse.client, files, turn, (statement) => statement)
}

/** Whether it is ours to migrate: asked for before the first statement, and before each. */
interface MigrationLease {
  begin(): Promise<void>
  confirm(): Promise<void>
}

/**
 * A table that is filled from another must not miss a row that arrives meanwhile, nor have it twice. Writers that are at
 * work end first; while we have the lease, nobody becomes one.
 */
async function waitForWriters({ clickhouse, postgres }: Parameters<typeof migrate>[0], lease: Lease): Promise<void> {
  while (await retryWhileUnavailable('looking for writers', () => isHeld(postgres, 'writer:%'))) {
    await pause(250)
    await assertLeaseHeld(lease)
  }
  // A writer that was suspended may still send the statement that it was about to send.
  const [row] = await queryPostgres(postgres<{ latest: Date | null }[]>`
    SELECT max(statement_deadline) AS latest FROM leases WHERE name LIKE 'writer:%'`)
  const latestMs = row?.latest?.getTime()
  if (latestMs === undefined) return
  await retryWhileUnavailable('waiting for interrupted writers', () => untilClickHouseClock(clickhouse, latestMs))
}

/** @throws MigrationError, or Problem `unavailable` */
async function assertLeaseHeld(lease: Lease): Promise<void> {
  try {
    await retryWhileUnavailable('confirming the migration', () => lease.assertHeld())
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
    throw new MigrationError('another process has gone on with the migration; run it again.')
  }
}

/**
 * Every node runs the files for itself, one node after the other, and notes what it ran; once all have the same tables,
 * those that spread over them follow. What a node that can't be reached did not run, it runs next time.
 */
async function migrateCluster(
  cluster: Cluster,
  database: string,
  files: readonly Migration[],
  turn: MigrationLease,
): Promise<string[]> {
  const ran = new Set<string>()
  for (const node of cluster.nodes) {
    const here = (statement: string) =>
      cluster.isReplicated ? replicatedStatement(statement, node.isFirst) : statement
    for (const name of await naming(node, runPending(node.client, files, turn, here))) ran.add(name)
  }
  for (const node of cluster.nodes) await naming(node, createDistributedTables(node.client, cluster, database))
  return [...ran]
}

/** A failure says which node it was on. */
async function naming<Outcome>(node: ClusterNode, work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work
  } catch (error) {
    if (error instanceof MigrationError || error instanceof Problem) throw error
    throw new MigrationError(`${node.url}: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

/**
 * A store is a single server's or a cluster's of so many shards for good: a row that lies elsewhere than where its next
 * version is written would count twice.
 */
async function assertNodesAgree({ client, cluster, database }: ClickHouse): Promise<void> {
  for (const node of cluster?.nodes ?? [{ client, url: '' }]) {
    for (const { engine, comment } of await tablesOf(node.client, database)) {
      const isSpread = engine === 'Distributed'
      if (cluster && !isSpread) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the database ${database} of ${node.url} holds the tables of a single server; docs/scaling.md says how its rows move.`,
        )
      }
      if (!cluster && isSpread) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the tables of the database ${database} are spread over a cluster; set its name.`,
        )
      }
      if (cluster && comment !== shardsOf(cluster)) {
        throw new MigrationError(
          `CLICKHOUSE_CLUSTER: the rows of ${database} are spread over ${comment}, the cluster has ${shardsOf(cluster)} now; docs/scaling.md says how rows move.`,
        )
      }
    }
  }
}

/** ClickHouse has no transactions for this: every statement can be run again, and a file is noted when its last one ran. */
async function runPending(
  client: ClickHouseClient,
  files: readonly Migration[],
  turn: MigrationLease,
  here: (statement: string) => string | undefined,
): Promise<string[]> {
  const pending = pendingOf('clickhouse', files, await appliedInClickHouse(client))
  if (pending.length > 0) await turn.begin()
  for (const { name, sql, checksum } of pending) {
    for (const statement of statementsOf(sql)) {
      const query = here(statement)
      await turn.confirm()
      if (query) await execute(client, { query, clickhouse_settings: keepAliveSettings })
    }
    await turn.confirm()
    await client.insert({ table: 'schema_migrations', values: [{ name, checksum }], format: 'JSONEachRow' })
  }
  return pending.map(({ name }) => `clickhouse/${name}`)
}

/** The table is made only where it is missing: whoever finds nothing to do needs no right to define tables. */
async function appliedInClickHouse(client: ClickHouseClient): Promise<Applied[]> {
  try {
    const query = 'SELECT name, checksum FROM schema_migrations FINAL'
    return await (await client.query({ query, format: 'JSONEachRow' })).json()
  } catch (error) {
    if (!isUnknownTable(error)) throw error
  }
  await client.command({
    query: `
      CREATE TABLE IF NOT EXISTS schema_migrations
      (name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = ReplacingMergeTree ORDER BY name
      SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  })
  return []
}

const read = new Map<string, Promise<Migration[]>>()

/** Read once: an upgrade changes the files under a running process, which goes by those that it began with. */
function readMigrations(store: 'clickhouse' | 'postgres'): Promise<Migration[]> {
  const migrations = read.get(store) ?? readFolder(join(packageRoot, store))
  read.set(store, migrations)
  return migrations
}

async function readFolder(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

function pendingOf(store: string, files: readonly Migration[], applied: readonly Applied[]): Migration[] {
  for (const { name, checksum } of applied) {
    const file = files.find((candidate) => candidate.name === name)
    if (!file) {
      throw new MigrationError(
        `${store}/${name} ran on this store, but this version does not have it; run a newer version.`,
      )
    }
    if (file.checksum !== checksum) {
      throw new MigrationError(`${store}/${name} has changed since it ran; put it back and write a new file instead.`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  return files.filter(({ name }) => !done.has(name))
}

/** Statements end with a semicolon at the end of a line; ours have none inside text. */
function statementsOf(sql: string): string[] {
  return sql
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/--.*$/gm, '').trim() !== '')
}
