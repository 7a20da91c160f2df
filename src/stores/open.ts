import type { Settings } from '../settings.ts'
import { SettingsError } from '../settings.ts'
import { type ClickHouse, type ClickHouseAddress, openClickHouse } from './clickhouse.ts'
import { attachEmbedded } from './embedded/attach.ts'
import { openPostgres, type Postgres } from './postgres.ts'

/** Both stores, however they are run. Only this file knows whether a server was given or an embedded engine started. */
export interface Stores {
  readonly clickhouse: ClickHouse
  readonly postgres: Postgres
  close(): Promise<void>
}

/** Where a line about the stores goes. */
export type StoreLog = (line: { level: 'info' | 'warn' | 'error'; message: string }) => void

/** The database that the embedded ClickHouse keeps our tables in. */
const embeddedDatabase = 'tributary'

/**
 * Opens the stores that the settings name, embedded ones where they name none, and makes sure that both answer.
 * @throws SettingsError or EmbeddedError: one line that names the setting
 */
export async function openStores(settings: Settings, log: StoreLog): Promise<Stores> {
  const embedded = await attachEmbedded({
    dataDir: settings.DATA_DIR,
    clickhouse: settings.CLICKHOUSE_URL === undefined,
    postgres: settings.DATABASE_URL === undefined,
    log,
  })
  const clickhouse = openClickHouse(
    embedded.clickhouse
      ? { ...embedded.clickhouse, database: embeddedDatabase }
      : addressOf(settings.CLICKHOUSE_URL ?? ''),
  )
  embedded.onClickHouseMoved((address) => clickhouse.moveTo({ ...address, database: embeddedDatabase }))
  const postgres = openPostgres(embedded.postgres ?? { url: settings.DATABASE_URL ?? '' })
  const stores = {
    clickhouse,
    postgres,
    async close() {
      await Promise.allSettled([clickhouse.close(), postgres.end({ timeout: 5 })])
      await embedded.close()
    },
  }
  try {
    await reachPostgres(postgres)
    await reachClickHouse(clickhouse)
  } catch (error) {
    await stores.close()
    throw error
  }
  return stores
}

function addressOf(text: string): ClickHouseAddress {
  const url = new URL(text)
  return {
    url: `${url.protocol}//${url.host}`,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'default',
  }
}

async function reachPostgres(postgres: Postgres): Promise<void> {
  try {
    await postgres`SELECT 1`
  } catch (error) {
    throw new SettingsError(`DATABASE_URL: Postgres does not answer: ${reasonOf(error)}.`)
  }
}

async function reachClickHouse(clickhouse: ClickHouse): Promise<void> {
  try {
    await clickhouse.makeDatabase()
  } catch (error) {
    throw new SettingsError(`CLICKHOUSE_URL: ClickHouse does not answer: ${reasonOf(error)}.`)
  }
}

/** The first line of what the driver says, which is where it names the cause. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  const line = (message ?? '').split('\n')[0]?.replace(/\.$/, '') ?? ''
  return line || code || String(error)
}
