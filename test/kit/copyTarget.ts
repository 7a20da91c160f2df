import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import type { TestStores } from './stores.ts'

/**
 * Opens the Postgres of the test stores as a target for the copies of a test.
 * @returns `url`: argument of tributary-sync; `environment`: variables with which tributary-sync and psql find the database;
 *   `close` drops the schema of the copy, since later files reuse the stores
 */
export async function openCopyTarget({ environment }: Pick<TestStores, 'environment'>) {
  const { DATABASE_URL, DATA_DIR = '' } = environment
  const options = { max: 1, onnotice() {} }
  if (DATABASE_URL) {
    const sql = postgres(DATABASE_URL, options)
    return { url: DATABASE_URL, environment: {} as Record<string, string>, sql, close: () => close(sql) }
  }
  // The embedded Postgres listens on a Unix socket with another name.
  const folder = await mkdtemp(join(tmpdir(), 'tributary-target-'))
  const socket = join(folder, '.s.PGSQL.5432')
  await symlink(join(DATA_DIR, 'run/postgres.sock'), socket)
  const sql = postgres('postgres:///postgres', { ...options, path: socket, username: 'postgres' })
  return {
    url: 'postgres:///postgres',
    environment: { PGHOST: folder, PGUSER: 'postgres', PGPORT: '5432' },
    sql,
    async close() {
      await close(sql)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function close(sql: Sql): Promise<void> {
  await sql`DROP SCHEMA IF EXISTS tributary CASCADE`
  await sql.end()
}
