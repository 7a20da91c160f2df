import { packageRoot, version } from '../../package.ts'
import { nodesOf } from '../clickhouse/connection.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import { type Postgres, queryPostgres } from '../postgres/connection.ts'
import { acquireLease } from '../postgres/lease.ts'
import { type AppliedMigration, findPending, MigrationError, readMigrations } from './files.ts'
import { type MigratedStores, migrateClickHouse } from './migrateClickHouse.ts'

/** The name of the lease that a migration of ClickHouse holds; no writer starts meanwhile. */
export const migrationLease = 'migrate'

/**
 * Runs each file of `postgres/` and `clickhouse/` in `root` once, in the order of their names, in one of several instances.
 * @returns the files that ran, such as `clickhouse/0001_baseline.sql`
 * @throws MigrationError when another build created the tables, or a file that ran has changed or is missing
 */
export async function migrate(stores: MigratedStores, root = packageRoot): Promise<string[]> {
  const ranInPostgres = await migratePostgres(stores.postgres, root)
  const lease = await acquireLease(stores.postgres, migrationLease)
  try {
    return [...ranInPostgres, ...(await migrateClickHouse(stores, lease, root))]
  } finally {
    await lease.release()
  }
}

/** Runs all pending files in one transaction, behind a lock that ends with it. @returns the files that ran @throws MigrationError */
export async function migratePostgres(postgres: Postgres, root: string): Promise<string[]> {
  const files = await readMigrations(root, 'postgres')
  return await postgres.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('tributary migrate'))`
    await transaction`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        name text PRIMARY KEY, checksum text NOT NULL, version text, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = await transaction<AppliedMigration[]>`
      SELECT name, checksum, to_jsonb(schema_migrations) ->> 'version' AS version FROM schema_migrations`
    const pending = findPending('postgres', files, applied)
    for (const { name, sql, checksum } of pending) {
      await transaction.unsafe(sql)
      await transaction`INSERT INTO schema_migrations (name, checksum, version) VALUES (${name}, ${checksum}, ${version})`
    }
    return pending.map(({ name }) => `postgres/${name}`)
  })
}

/**
 * Asserts that the stores have the schema of this version: a newer one may have migrated them since. @throws MigrationError, or
 * Problem `unavailable`
 */
export async function assertCurrent({ clickhouse, postgres }: MigratedStores): Promise<void> {
  const reader = nodesOf(clickhouse)[0] ?? clickhouse.client
  const query = ch`SELECT name, checksum FROM schema_migrations FINAL`
  const applied = {
    postgres: await queryPostgres(postgres<AppliedMigration[]>`SELECT name, checksum FROM schema_migrations`),
    clickhouse: await selectRows<AppliedMigration>({ reader, onQuery: undefined }, query, { label: 'migrate.current' }),
  }
  for (const store of ['postgres', 'clickhouse'] as const) {
    const [missing] = findPending(store, await readMigrations(packageRoot, store), applied[store])
    if (missing) throw new MigrationError(`${store}/${missing.name} has not run on this store; run: tributary migrate.`)
  }
}
