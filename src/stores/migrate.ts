import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { type ClickHouse, isUnknownTable, whileItWorks } from './clickhouse.ts'
import type { Cluster, ClusterNode } from './cluster.ts'
import { takeLease } from './lease.ts'
import { packageRoot } from './packageRoot.ts'
import type { Postgres } from './postgres.ts'
import { onReplica } from './replicas.ts'
import { shardsOf, spreadTables, tablesOf } from './spread.ts'

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

/**
 * Brings both stores to the current schema: each file of `postgres/` and `clickhouse/` once, in the order of their names.
 * Safe when several instances start together: one runs them, the others wait and find nothing to do.
 * @returns the files that were run, such as `clickhouse/0001_clicks.sql`
 * @throws MigrationError when a file that ran before has changed or is missing
 */
export async function migrate(stores: { clickhouse: ClickHouse; postgres: Postgres }): Promise<string[]> {
  const ranInPostgres = await migratePostgres(stores.postgres)
  const lease = await takeLease(stores.postgres, 'migrate')
  try {
    return [...ranInPostgres, ...(await migrateClickHouse(stores))]
  } finally {
    await lease.release()
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
    const applied = await transaction<{ name: string; checksum: string }[]>`
      SELECT name, checksum FROM schema_migrations`
    const pending = pendingOf('postgres', files, applied)
    for (const { name, sql, checksum } of pending) {
      await transaction.unsafe(sql)
      await transaction`INSERT INTO schema_migrations (name, checksum) VALUES (${name}, ${checksum})`
    }
    return pending.map(({ name }) => `postgres/${name}`)
  })
}

async function migrateClickHouse({ clickhouse, postgres }: Parameters<typeof migrate>[0]): Promise<string[]> {
  const files = await readMigrations('clickhouse')
  await mustBeOfOneKind(clickhouse)
  const { cluster } = clickhouse
  const ready = () => untilNobodyWrites(postgres)
  return cluster
    ? await migrateCluster(cluster, clickhouse.database, files, ready)
    : await runPending(clickhouse.client, files, ready, (statement) => statement)
}

/**
 * A table that is filled from another must not miss a row that arrives meanwhile, nor have it twice. Imports that are
 * under way end first; one that wants to begin migrates before it writes, and so waits for us.
 */
async function untilNobodyWrites(postgres: Postgres): Promise<void> {
  const writers = () => postgres`
    SELECT 1 FROM leases WHERE name LIKE 'writer:%' AND expires_at > clock_timestamp() LIMIT 1`
  while ((await writers()).length > 0) await pause(250)
}

/**
 * Every node runs the files for itself, one node after the other, and notes what it ran; once all have the same tables,
 * those that spread over them follow. What a node that can't be reached did not run, it runs next time.
 */
async function migrateCluster(
  cluster: Cluster,
  database: string,
  files: readonly Migration[],
  ready: () => Promise<void>,
): Promise<string[]> {
  const ran = new Set<string>()
  for (const node of cluster.nodes) {
    const here = (statement: string) => (cluster.isReplicated ? onReplica(statement, node.isFirst) : statement)
    for (const name of await naming(node, runPending(node.client, files, ready, here))) ran.add(name)
  }
  for (const node of cluster.nodes) await naming(node, spreadTables(node.client, cluster, database))
  return [...ran]
}

/** A failure says which node it was on. */
async function naming<Outcome>(node: ClusterNode, work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work
  } catch (error) {
    if (error instanceof MigrationError) throw error
    throw new MigrationError(`${node.url}: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

/**
 * A store is a single server's or a cluster's of so many shards for good: a row that lies elsewhere than where its next
 * version is written would count twice.
 */
async function mustBeOfOneKind({ client, cluster, database }: ClickHouse): Promise<void> {
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
  ready: () => Promise<void>,
  here: (statement: string) => string | undefined,
): Promise<string[]> {
  const pending = pendingOf('clickhouse', files, await appliedInClickHouse(client))
  if (pending.length > 0) await ready()
  for (const { name, sql, checksum } of pending) {
    for (const statement of statementsOf(sql)) {
      const query = here(statement)
      if (query) await client.command({ query, clickhouse_settings: whileItWorks })
    }
    await client.insert({ table: 'schema_migrations', values: [{ name, checksum }], format: 'JSONEachRow' })
  }
  return pending.map(({ name }) => `clickhouse/${name}`)
}

/** The table is made only where it is missing: whoever finds nothing to do needs no right to define tables. */
async function appliedInClickHouse(client: ClickHouseClient): Promise<{ name: string; checksum: string }[]> {
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
      ENGINE = ReplacingMergeTree ORDER BY name`,
  })
  return []
}

async function readMigrations(store: 'clickhouse' | 'postgres'): Promise<Migration[]> {
  const folder = join(packageRoot, store)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

function pendingOf(
  store: string,
  files: readonly Migration[],
  applied: readonly { name: string; checksum: string }[],
): Migration[] {
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
