import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import postgres from 'postgres'
import { inject } from 'vitest'
import { readSettings, type Settings } from '../../src/settings/settings.ts'
import type { ClickHouse } from '../../src/stores/cluster/connection.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { engineTemplate } from './engineTemplate.ts'

/** Migrated, empty stores that no other test file uses. */
export interface TestStores extends Stores {
  readonly settings: Settings
  /** Environment of processes that a test starts on the same stores. */
  readonly environment: Record<string, string>
  /** Marks the stores as changed beyond their rows (tables, settings, killed engines), so that no other file reuses them. */
  markDirty(): void
  /** Empties the stores for the next file of this process, with merges; removes them if they are dirty. */
  close(): Promise<void>
}

/** Settings of a table: maximum size of a merge, with many and with few free threads. */
export const mergeLimits = ['max_bytes_to_merge_at_max_space_in_pool', 'max_bytes_to_merge_at_min_space_in_pool']

/** Embedded engines for reuse by later files of this process: starting a pair takes two seconds, emptying it 50 ms. */
const spare: OpenedStores[] = []

/**
 * Opens stores for one test file; `close` them in `afterAll`.
 * @param servers addresses of servers that the file started, instead of the engines of the suite
 */
export async function openTestStores(servers?: Record<string, string>): Promise<TestStores> {
  const opened = servers ? await openStoresOf(servers) : (spare.pop() ?? (await openStoresOf()))
  let isDirty = false
  return {
    ...opened.stores,
    settings: opened.settings,
    environment: opened.environment,
    markDirty() {
      isDirty = true
    },
    async close() {
      if (isDirty || servers || opened.settings.CLICKHOUSE_URL !== undefined) return await opened.remove()
      await empty(opened)
      spare.push(opened)
    },
  }
}

interface OpenedStores {
  stores: Stores
  settings: Settings
  environment: Record<string, string>
  plans: readonly postgres.Row[]
  remove(): Promise<void>
}

async function openStoresOf(servers: Record<string, string> = {}): Promise<OpenedStores> {
  const { environment: ofSuite, remove } = await createTestEnvironment()
  const environment = { ...ofSuite, ...servers }
  const settings = readSettings(environment)
  const stores = await openStores(settings, () => {})
  await migrate(stores)
  return {
    stores,
    settings,
    environment,
    plans: await stores.postgres`SELECT * FROM plans`,
    async remove() {
      // A server of the file's own ends with the file.
      const isOfSuite = servers.CLICKHOUSE_URL === undefined
      if (settings.CLICKHOUSE_URL !== undefined && isOfSuite) await dropDatabases(stores.clickhouse)
      await stores.close()
      await remove()
    },
  }
}

async function empty({ stores, plans }: OpenedStores): Promise<void> {
  const { clickhouse, postgres: sql } = stores
  clickhouse.onQuery = undefined
  const result = await clickhouse.client.query({
    query: `
      SELECT name, engine_full LIKE '%max_bytes_to_merge%' AS isUnmerged FROM system.tables
      WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'`,
    format: 'JSONEachRow',
  })
  for (const { name, isUnmerged } of await result.json<{ name: string; isUnmerged: number }>()) {
    await clickhouse.client.command({ query: `ALTER TABLE ${name} DROP PARTITION ALL` })
    const restart = `ALTER TABLE ${name} RESET SETTING ${mergeLimits.join(', ')}`
    if (isUnmerged) await clickhouse.client.command({ query: restart })
  }
  const tables = await sql`
    SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename != 'schema_migrations'`
  await sql`TRUNCATE ${sql(tables.map(({ tablename }) => tablename))}`
  await sql`INSERT INTO plans ${sql(plans as postgres.Row[])}`
}

async function dropDatabases({ client, cluster, database }: ClickHouse): Promise<void> {
  const names = cluster ? [database, cluster.localDatabase] : [database]
  for (const one of cluster?.nodes ?? [{ client }]) {
    for (const name of names) await one.client.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` })
  }
}

/** Creates an environment with its own stores: a copy of the template folder, or databases on servers. Starts no process. */
export async function createTestEnvironment(): Promise<{
  environment: Record<string, string>
  remove: () => Promise<void>
}> {
  const { clickhouseUrl, clusterEnvironment, databaseUrl, copies } = inject('engines')
  const name = `test_${randomBytes(6).toString('hex')}`
  // `cpuTime.ts` finds the engines of this process by it.
  const folder = await mkdtemp(join(copies, `stores-${process.pid}-`))
  const removers: (() => Promise<unknown>)[] = []
  if (!clickhouseUrl || !databaseUrl)
    await cp(await engineTemplate(), folder, { recursive: true, filter: (path) => basename(path) !== 'run' })
  if (databaseUrl) {
    await asAdmin(databaseUrl, (sql) => sql`CREATE DATABASE ${sql(name)}`)
    removers.push(() => asAdmin(databaseUrl, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`))
  }
  // The engines run for two seconds after their last client and may still write files.
  removers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))
  return {
    environment: {
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      ...(clickhouseUrl && { CLICKHOUSE_URL: inDatabase(clickhouseUrl, name), ...clusterEnvironment }),
      ...(databaseUrl && { DATABASE_URL: inDatabase(databaseUrl, name) }),
    },
    async remove() {
      for (const remove of removers) await remove()
    },
  }
}

async function asAdmin(url: string, run: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await run(sql)
  await sql.end()
}

function inDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
