import { existsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClickHouseError } from '@clickhouse/client'
import postgresDriver from 'postgres'
import { causeOf } from '../expectedError.ts'
import type { Settings } from '../settings/settings.ts'
import { SettingsError } from '../settings/settings.ts'
import type { ClickHouseAddress } from './clickhouse/client.ts'
import { NodeUnavailable } from './cluster/cluster.ts'
import { openClickHouse } from './cluster/connection.ts'
import { embeddedDatabase } from './embedded/clickhouse/users.ts'
import { connectEmbedded } from './embedded/connectEmbedded.ts'
import { embeddedPathsOf } from './embedded/paths.ts'
import { type EmbeddedClickHouse, type EngineName, engineNames } from './embedded/protocol.ts'
import { assertUtf8, isPostgresUnreachable, listenTo, openPostgres } from './postgres/connection.ts'

/** Both stores, each a server or an embedded engine. Queries never depend on which. */
export type Stores = Awaited<ReturnType<typeof openStores>>

export type StoreLog = (line: { level: 'info' | 'warn' | 'error'; message: string }) => void

/** Connections of `postgresReader` to a server. Two searches at once leave processor time for events on a small machine. */
export const readerConnectionsMax = 2

/** Time for both databases to become available, for example if all servers start together. */
export const startTimeoutMs = 60_000

export interface OpenOptions {
  /** How long to wait for servers that are unreachable, with a log line; one attempt, unless given. */
  waitMs?: number
  /** Whether a missing database is created; true unless given. */
  mayCreate?: boolean
  /** Ends the wait. */
  signal?: AbortSignal
}

/**
 * Opens the stores that the settings name, embedded engines where they name none, and verifies that both respond.
 * @throws SettingsError or EmbeddedError: one line that names the setting; the reason of the signal
 */
export async function openStores(
  settings: Settings,
  log: StoreLog,
  { waitMs = 0, mayCreate = true, signal }: OpenOptions = {},
) {
  const server = serverOf(settings)
  const embedded = await connectEmbedded({
    dataDir: settings.DATA_DIR,
    ...isEmbedded(settings),
    clickhouseMemoryMb: settings.CLICKHOUSE_MEMORY_MB,
    log,
  })
  const clickhouse = openClickHouse(...(server ?? addressesOf(embedded.clickhouse as EmbeddedClickHouse)))
  clickhouse.onNotice = (message) => log({ level: 'warn', message })
  embedded.onClickHouseMoved = (moved) => clickhouse.moveTo(...addressesOf(moved))
  const postgresAddress = embedded.postgres ?? { url: settings.DATABASE_URL ?? '' }
  const postgres = openPostgres(postgresAddress)
  const postgresReader = openPostgres(postgresAddress, readerConnectionsMax)
  const stores = {
    clickhouse,
    postgres,
    /** Connections to the same Postgres for reads that take longer the more an account has stored. On a server, key look-ups never wait for them. */
    postgresReader,
    /** `listenTo` of a Postgres server; the embedded engine has none. */
    ...(embedded.postgres === undefined && { listen: listenTo.bind(undefined, postgres) }),
    async close() {
      await Promise.allSettled([clickhouse.close(), postgres.end({ timeout: 5 }), postgresReader.end({ timeout: 5 })])
      await embedded.close()
    },
  }
  try {
    const deadlineMs = performance.now() + waitMs
    const wait = { deadlineMs, log, signal }
    await reach('DATABASE_URL: Postgres', () => assertUtf8(postgres), wait)
    await reach('CLICKHOUSE_URL: ClickHouse', () => clickhouse.reach(mayCreate), wait)
    const readOne = () => clickhouse.reader.command({ query: 'SELECT 1' })
    await reach('CLICKHOUSE_READER_URL: ClickHouse', readOne, wait)
  } catch (error) {
    await stores.close()
    throw error
  }
  return stores
}

/**
 * @returns the embedded engines that have never been started in `DATA_DIR`; without Postgres there is no account. None during an
 *   unfinished restore, or without rights to the folder: `openStores` says so
 */
export function missingEngines(settings: Settings): EngineName[] {
  const { clickhouseLog, postgres, restoring } = embeddedPathsOf(settings.DATA_DIR)
  if (existsSync(restoring)) return []
  const needed = isEmbedded(settings)
  const traces = { clickhouse: clickhouseLog, postgres }
  return engineNames.filter((name) => needed[name] && isAbsent(traces[name]))
}

function isEmbedded({ CLICKHOUSE_URL, DATABASE_URL }: Settings): Record<EngineName, boolean> {
  return { clickhouse: CLICKHOUSE_URL === undefined, postgres: DATABASE_URL === undefined }
}

/** TRAP: `existsSync` is false also for a path that may not be read. */
function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** @returns the addresses of the embedded engine: the writer's, then the reader's */
function addressesOf({ socketPath, writer, reader }: EmbeddedClickHouse): [ClickHouseAddress, ClickHouseAddress] {
  const location = { url: 'http://localhost', socketPath, database: embeddedDatabase }
  return [
    { ...location, ...writer },
    { ...location, ...reader },
  ]
}

function parseAddress(text: string): ClickHouseAddress {
  const url = new URL(text)
  return {
    url: `${url.protocol}//${url.host}`,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'default',
  }
}

/** Settings that have a meaning only beside another one. */
const dependentSettings = [
  ['CLICKHOUSE_READER_URL', 'CLICKHOUSE_URL'],
  ['CLICKHOUSE_NODES', 'CLICKHOUSE_CLUSTER'],
  ['CLICKHOUSE_CLUSTER', 'CLICKHOUSE_URL'],
] as const

/**
 * @returns the server or cluster that the settings name; undefined: the embedded engine
 * @throws SettingsError when a setting lacks the one that it needs, or the reader's database differs from the one that is written
 */
function serverOf(settings: Settings): Parameters<typeof openClickHouse> | undefined {
  for (const [name, needed] of dependentSettings) {
    if (settings[name] !== undefined && settings[needed] === undefined)
      throw new SettingsError(`${name}: ${needed} is not set.`)
  }
  const { CLICKHOUSE_URL, CLICKHOUSE_READER_URL, CLICKHOUSE_CLUSTER, CLICKHOUSE_NODES } = settings
  if (CLICKHOUSE_URL === undefined) return undefined
  const address = parseAddress(CLICKHOUSE_URL)
  const reader = parseAddress(CLICKHOUSE_READER_URL ?? CLICKHOUSE_URL)
  if (reader.database !== address.database) {
    throw new SettingsError('CLICKHOUSE_READER_URL: the database differs from the database of CLICKHOUSE_URL.')
  }
  if (CLICKHOUSE_CLUSTER === undefined) return [address, reader]
  return [address, reader, { name: CLICKHOUSE_CLUSTER, nodeUrls: CLICKHOUSE_NODES?.split(',') ?? [] }]
}

const retryMs = 500

/** Tries until the server responds. Retries while it is unreachable, not after a rejection. */
async function reach(
  server: string,
  attempt: () => PromiseLike<unknown>,
  { deadlineMs, log, signal }: { deadlineMs: number; log: StoreLog; signal: AbortSignal | undefined },
): Promise<void> {
  let isAnnounced = false
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      if (error instanceof SettingsError) throw error
      const [name, cause] = error instanceof NodeUnavailable ? [error.message, error.cause] : [server, error]
      const isRejected = isRejection(cause)
      const failure = `${name} ${isRejected ? 'rejects the connection' : 'does not respond'}: ${causeOf(cause)}.`
      if (isRejected || performance.now() >= deadlineMs) throw new SettingsError(failure)
      if (!isAnnounced) log({ level: 'warn', message: `Waiting for ${name}: ${causeOf(cause)}.` })
      isAnnounced = true
      await sleep(retryMs)
      signal?.throwIfAborted()
    }
  }
}

/** Whether the server was reached and rejected the request. */
function isRejection(error: unknown): boolean {
  if (error instanceof postgresDriver.PostgresError) return !isPostgresUnreachable(error)
  return error instanceof ClickHouseError
}
