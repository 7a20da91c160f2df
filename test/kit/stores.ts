import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import postgres from 'postgres'
import { inject } from 'vitest'
import { readSettings, type Settings } from '../../src/settings.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openStores, type StoreLog, type Stores } from '../../src/stores/open.ts'

/** Migrated, empty stores that no other test file sees. */
export interface TestStores extends Stores {
  readonly settings: Settings
  /** For processes that a test starts on the same stores. */
  readonly environment: Record<string, string>
}

/** Opens stores of the file's own; `close` them in `afterAll`, which also removes them. */
export async function openTestStores(log: StoreLog = () => {}): Promise<TestStores> {
  const { environment, remove } = await makeTestPlace()
  const settings = readSettings(environment)
  const stores = await openStores(settings, log)
  await migrate(stores)
  return {
    ...stores,
    settings,
    environment,
    async close() {
      if (settings.CLICKHOUSE_URL !== undefined) await dropDatabases(stores.clickhouse)
      await stores.close()
      await remove()
    },
  }
}

/** Drops what a test file made on servers, on each of them. */
async function dropDatabases({ client, cluster, database }: ClickHouse): Promise<void> {
  const names = cluster ? [database, cluster.localDatabase] : [database]
  for (const one of cluster?.nodes ?? [{ client }]) {
    for (const name of names) await one.client.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` })
  }
}

/** A place for stores: a copy of the template folder and, on servers, databases of its own. Nothing is started. */
export async function makeTestPlace(): Promise<{ environment: Record<string, string>; remove: () => Promise<void> }> {
  const { clickhouseUrl, clusterEnvironment, databaseUrl, template } = inject('engines')
  const name = `test_${randomBytes(6).toString('hex')}`
  const folder = await mkdtemp(join(tmpdir(), 'tributary-'))
  const removers: (() => Promise<unknown>)[] = []
  if (!clickhouseUrl || !databaseUrl) {
    await cp(template, folder, { recursive: true, filter: (path) => basename(path) !== 'run' })
  }
  if (databaseUrl) {
    await asAdmin(databaseUrl, (sql) => sql`CREATE DATABASE ${sql(name)}`)
    removers.push(() => asAdmin(databaseUrl, (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`))
  }
  // The engines linger for a moment after their last client; what they still write into the folder goes with it.
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

async function asAdmin(url: string, ask: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await ask(sql)
  await sql.end()
}

function inDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
