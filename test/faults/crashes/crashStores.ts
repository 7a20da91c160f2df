import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../../../src/settings.ts'
import { embeddedPathsOf } from '../../../src/stores/embedded/paths.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../../src/stores/open.ts'
import { startCluster } from '../../kit/clickhouseCluster.ts'
import { type ClickHouseServer, startClickHouse } from '../../kit/clickhouseServer.ts'
import { processesOf } from '../../kit/processes.ts'
import { embeddedPostgres } from './embeddedPostgres.ts'
import { armKill, type Instant } from './syscallKiller.ts'

/** A process that can be killed, and comes back. */
export interface Victim {
  /** Another one after each start. */
  readonly pid: number
  /** Resolves when the process of now has ended. */
  readonly ended: Promise<unknown>
  /** Resolves when it answers again. */
  start(): Promise<void>
}

/** Migrated stores, an embedded Postgres and one process or two nodes of ClickHouse, each of which can be killed. */
export interface CrashStores {
  readonly stores: Stores
  /** For processes that are started on the same stores. */
  readonly environment: Record<string, string> & { CLICKHOUSE_URL: string }
  readonly nodes: readonly [ClickHouseServer, ...ClickHouseServer[]]
  readonly postgres: Victim
  /** Path of the socket that Postgres listens on. */
  readonly postgresSocket: string
  close(): Promise<void>
}

export interface CrashStoresOptions {
  /** A folder of a Postgres database to copy, since making one takes seconds. */
  postgresTemplate?: string
  isCluster?: boolean
  /** Where everything is stored, and stays; a folder of its own when left out. */
  folder?: string
}

export async function openCrashStores(options: CrashStoresOptions = {}): Promise<CrashStores> {
  const { postgresTemplate, isCluster = false } = options
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tributary-crashes-')))
  if (postgresTemplate) await cp(postgresTemplate, join(folder, 'postgres'), { recursive: true })
  const cluster = isCluster ? await startCluster() : undefined
  const nodes = cluster?.nodes ?? ([await startClickHouse(options.folder)] as const)
  const environment = {
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    ...(cluster?.environment ?? { CLICKHOUSE_URL: nodes[0].url('admin') }),
  }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  return {
    stores,
    environment,
    nodes,
    postgres: embeddedPostgres(folder, stores.postgres),
    postgresSocket: embeddedPathsOf(folder).postgresSocket,
    async close() {
      await stores.close()
      // The embedded engine would stay for a moment, for the next client.
      for (const { id } of processesOf(folder)) process.kill(id, 'SIGKILL')
      await Promise.all(nodes.map((node) => node.close()))
      if (options.folder) return
      await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 250 })
    },
  }
}

/** What came of a piece of work during which a process was to die. */
export interface Killed<Result> {
  result: Result
  /** Arguments of the call that the process died at; undefined when the work made fewer calls. */
  diedAt: string | undefined
}

/** Runs a piece of work while a process dies at an instant; it is started again at once. */
export async function withKill<Result>(
  victim: Victim,
  instant: Instant,
  work: () => Promise<Result>,
): Promise<Killed<Result>> {
  const { pid, ended } = victim
  const kill = await armKill(pid, instant)
  const result = work()
  const isDead = await Promise.race([
    ended.then(() => true),
    result.then(
      () => false,
      () => false,
    ),
  ])
  if (isDead) await victim.start()
  await result.catch(() => {})
  const diedAt = await kill.disarm()
  // A merge may have made the call after the work was done.
  if (diedAt !== undefined && !isDead) {
    await ended
    await victim.start()
  }
  return { result: await result, diedAt }
}
