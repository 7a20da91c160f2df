import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClickHouse, isUnknownTable } from './clickhouse.ts'
import { takeLease } from './lease.ts'
import { packageRoot } from './packageRoot.ts'
import type { Postgres } from './postgres.ts'

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
    return [...ranInPostgres, ...(await migrateClickHouse(stores.clickhouse))]
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

/** ClickHouse has no transactions for this: every statement can be run again, and a file is noted when its last one ran. */
async function migrateClickHouse(clickhouse: ClickHouse): Promise<string[]> {
  const { client } = clickhouse
  const files = await readMigrations('clickhouse')
  const pending = pendingOf('clickhouse', files, await appliedInClickHouse(clickhouse))
  for (const { name, sql, checksum } of pending) {
    for (const query of statementsOf(sql)) await client.command({ query })
    await client.insert({ table: 'schema_migrations', values: [{ name, checksum }], format: 'JSONEachRow' })
  }
  return pending.map(({ name }) => `clickhouse/${name}`)
}

/** The table is made only where it is missing: whoever finds nothing to do needs no right to define tables. */
async function appliedInClickHouse({ client }: ClickHouse): Promise<{ name: string; checksum: string }[]> {
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
