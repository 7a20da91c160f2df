import { version } from '../../package.ts'
import type { Postgres } from '../postgres/connection.ts'
import { type AppliedMigration, findPending, readMigrations } from './files.ts'

/**
 * Runs all pending files in one transaction, behind a lock that ends with it: all of them or none.
 * @returns the files that ran, such as `postgres/0001_baseline.sql`
 * @throws MigrationError
 */
export async function migratePostgres(postgres: Postgres, root: string): Promise<string[]> {
  const files = await readMigrations(root, 'postgres')
  return await postgres.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(hashtext('tributary migrate'))`
    await transaction`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const applied = await transaction<AppliedMigration[]>`
      SELECT name, checksum, to_jsonb(schema_migrations) ->> 'version' AS version FROM schema_migrations`
    const pending = findPending('postgres', files, applied)
    // Earlier versions made the table without it. A store that is refused above does not change.
    if (pending.length > 0) await transaction`ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS version text`
    for (const { name, sql, checksum } of pending) {
      await transaction.unsafe(sql)
      await transaction`INSERT INTO schema_migrations (name, checksum, version) VALUES (${name}, ${checksum}, ${version})`
    }
    return pending.map(({ name }) => `postgres/${name}`)
  })
}
