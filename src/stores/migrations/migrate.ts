import { packageRoot } from '../../package.ts'
import type { ClickHouse } from '../clickhouse/connection.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch } from '../clickhouse/sql.ts'
import { type Postgres, queryPostgres } from '../postgres/connection.ts'
import { acquireLease } from '../postgres/lease.ts'
import { type AppliedMigration, findPending, MigrationError, readMigrations } from './files.ts'
import { migrateClickHouse } from './migrateClickHouse.ts'
import { migratePostgres } from './migratePostgres.ts'

/** The name of the lease that a migration of ClickHouse holds; no writer starts meanwhile. */
export const migrationLease = 'migrate'

/**
 * Migrates both stores to the current schema: runs each file of `postgres/` and `clickhouse/` once, in the order of their
 * names. Safe when several instances start together: one runs the files, the others wait and find nothing to do.
 * @param root the folder that contains `postgres/` and `clickhouse/`; the package, unless given
 * @returns the files that ran, such as `clickhouse/0001_baseline.sql`
 * @throws MigrationError when another build created the tables, or a file that ran has changed or is missing
 */
export async function migrate(
  stores: { clickhouse: ClickHouse; postgres: Postgres },
  root = packageRoot,
): Promise<string[]> {
  const ranInPostgres = await migratePostgres(stores.postgres, root)
  const lease = await acquireLease(stores.postgres, migrationLease)
  try {
    return [...ranInPostgres, ...(await migrateClickHouse(stores, lease, root))]
  } finally {
    await lease.release()
  }
}

/**
 * Asserts that the stores have exactly the schema of this version. While a process waited for a lease, a newer version may
 * have migrated the stores; this one would not know how to write their rows.
 * @throws MigrationError, or Problem `unavailable`
 */
export async function assertCurrent({ clickhouse, postgres }: Parameters<typeof migrate>[0]): Promise<void> {
  const [ranInPostgres, ranInClickHouse] = await Promise.all([
    queryPostgres(postgres<AppliedMigration[]>`SELECT name, checksum FROM schema_migrations`),
    selectRows<AppliedMigration>(
      { reader: clickhouse.cluster?.nodes[0]?.client ?? clickhouse.client, onQuery: undefined },
      ch`SELECT name, checksum FROM schema_migrations FINAL`,
      { label: 'migrate.current' },
    ),
  ])
  for (const [store, applied] of [
    ['postgres', ranInPostgres],
    ['clickhouse', ranInClickHouse],
  ] as const) {
    const [missing] = findPending(store, await readMigrations(packageRoot, store), applied)
    if (missing) throw new MigrationError(`${store}/${missing.name} has not run on this store; run: tributary migrate.`)
  }
}
