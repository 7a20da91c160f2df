import type { ISql } from 'postgres'
import { packageRoot } from '../../package.ts'
import { isUsable, newReplicasOf } from '../cluster/chooseServer.ts'
import { type Postgres, queryPostgres } from '../postgres/connection.ts'
import { acquireLease } from '../postgres/lease.ts'
import { retryWhileUnavailable } from '../timing/retry.ts'
import { minuteMs } from '../timing/units.ts'
import { findPending, type Migration, MigrationError, type MigrationRecord, readMigrations, recordOf } from './files.ts'
import {
  assertNodesRespond,
  isClickHouseCurrent,
  type MigratedStores,
  migrateClickHouse,
  readRecords,
  waitForWriters,
} from './migrateClickHouse.ts'

/** The name of the lease that a migration holds; no writer starts meanwhile. */
export const migrationLease = 'migrate'

/**
 * Runs each file of `postgres/` and `clickhouse/` in `root` once, in the order of their names, in one of several instances. It
 * waits for nothing if all of them have run. If one has not, every node of a cluster must respond within a minute. A new replica stays
 * empty until `fillReplicas`.
 * @returns the files that ran, such as `clickhouse/0001_baseline.sql`
 * @throws MigrationError when another build created the tables, a file that ran has changed, or this version is too old; Problem
 *   `unavailable` that names a node
 */
export async function migrate(stores: MigratedStores, root = packageRoot): Promise<string[]> {
  const files = await readMigrations(root, 'postgres')
  const { clickhouse, postgres } = stores
  const records = await queryPostgres(readPostgresRecords(postgres))
  const pending = findPending('postgres', files, records)
  // A node may end after it was found.
  const compare = () => isClickHouseCurrent(clickhouse, root)
  const isCurrent = (await retryWhileUnavailable('reading which migrations have run', compare)) && pending.length === 0
  for (const [{ url }] of newReplicasOf(clickhouse.cluster?.allNodes ?? []))
    clickhouse.onNotice?.(`ClickHouse: ${url} has no rows; tributary migrate fills it.`)
  if (isCurrent) return []
  await retryWhileUnavailable('waiting for every node', () => assertNodesRespond(clickhouse), {
    onMessage: (line) => clickhouse.onNotice?.(line),
  })
  // The baseline creates the table of the leases.
  const first = records.length === 0 ? await migratePostgres(postgres, root) : []
  const lease = await acquireLease(postgres, migrationLease)
  try {
    await waitForWriters(stores, lease)
    return [...first, ...(await migratePostgres(postgres, root)), ...(await migrateClickHouse(clickhouse, lease, root))]
  } finally {
    await lease.release()
  }
}

/** Runs each pending file in its own transaction. @returns the files that ran @throws MigrationError */
export async function migratePostgres(postgres: Postgres, root: string): Promise<string[]> {
  const files = await readMigrations(root, 'postgres')
  const ran: string[] = []
  for (;;) {
    const options = { isTemporary: isLocked, giveUpAfterMs: 5 * minuteMs }
    const name = await retryWhileUnavailable('migrating Postgres', () => runNext(postgres, files), options).catch(
      (error: unknown) => {
        if (!isLocked(error)) throw error
        const user = 'another session, such as a backup, has locked a table of Postgres'
        throw new MigrationError(`${user}; run: tributary migrate.`)
      },
    )
    if (name === undefined) return ran
    ran.push(`postgres/${name}`)
  }
}

/** Runs the first pending file, behind a lock that ends with the transaction. @returns its name, undefined if there is none */
async function runNext(postgres: Postgres, files: readonly Migration[]): Promise<string | undefined> {
  return await postgres.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('tributary migrate'))`
    // Statements of running instances wait behind a statement that waits for the lock of a table.
    await transaction`SET LOCAL lock_timeout = '1s'`
    await transaction`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        name text COLLATE "C" PRIMARY KEY, checksum text NOT NULL, version text NOT NULL, commit text NOT NULL,
        readable_from text NOT NULL, writable_from text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const [next] = findPending('postgres', files, await readPostgresRecords(transaction))
    if (!next) return undefined
    await transaction.unsafe(next.sql)
    await transaction`INSERT INTO schema_migrations ${transaction(recordOf(next))}`
    return next.name
  })
}

/** @returns no records if the table does not exist yet */
async function readPostgresRecords(postgres: ISql): Promise<MigrationRecord[]> {
  try {
    const rows = await postgres<{ record: MigrationRecord }[]>`
      SELECT to_jsonb(schema_migrations) AS record FROM schema_migrations`
    return rows.map(({ record }) => record)
  } catch (error) {
    if (codeOf(error) === undefinedTable) return []
    throw error
  }
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code
/** Whether another session uses a table that a statement has to lock. */
const isLocked = (error: unknown) => codeOf(error) === lockNotAvailable

// Codes of PostgreSQL.
const undefinedTable = '42P01'
const lockNotAvailable = '55P03'

/**
 * Asserts that this version may write to the stores: a newer one may have migrated them since.
 * @throws MigrationError, or Problem `unavailable`
 */
export async function assertWritable({ clickhouse, postgres }: MigratedStores): Promise<void> {
  const nodes = clickhouse.cluster?.nodes ?? []
  const { client: reader } = nodes.find(isUsable) ?? nodes[0] ?? clickhouse
  const records = {
    postgres: await queryPostgres(readPostgresRecords(postgres)),
    clickhouse: await readRecords(reader),
  }
  for (const store of ['postgres', 'clickhouse'] as const) {
    const [missing] = findPending(store, await readMigrations(packageRoot, store), records[store], 'write')
    if (missing) throw new MigrationError(`${store}/${missing.name} has not run on this store; run: tributary migrate.`)
  }
}
