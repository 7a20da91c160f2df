import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../../../src/settings/settings.ts'
import { embeddedPathsOf } from '../../../src/stores/embedded/paths.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { openStores } from '../../../src/stores/open.ts'
import type { Postgres } from '../../../src/stores/postgres/connection.ts'
import { type KeptNode, keepRunning, startCluster } from '../../kit/clickhouseCluster.ts'
import { type ClickHouseServer, startClickHouse } from '../../kit/clickhouseServer.ts'
import { startPostgres } from '../../kit/postgresServer.ts'
import { processesOf, processIdOf } from '../../kit/processes.ts'
import { startReplicas } from '../../kit/replicas.ts'
import { holds, until } from '../../kit/until.ts'
import { armKill, type Instant } from './syscallKiller.ts'

export interface Victim {
  readonly pid: number
  readonly ended: Promise<unknown>
  kill(): Promise<void>
  start(): Promise<void>
}

export type CrashStores = Awaited<ReturnType<typeof openCrashStores>>

export interface CrashStoresOptions {
  /** Folder of a Postgres database to copy, since creating one takes seconds. */
  postgresTemplate?: string
  isCluster?: boolean
  /** Instead of `isCluster`: the number of shards, with two replicas each. */
  replicatedShards?: number
  /** Whether Postgres is a server, which requires postgresql-15, instead of the embedded engine. */
  hasPostgresServer?: boolean
  /** Data folder, which is kept; by default a temporary one, which is removed. */
  folder?: string
}

/**
 * Opens migrated stores: a Postgres, by default the embedded one, and one ClickHouse process, two nodes, or replicas; each process can be killed. The
 * caller closes the stores.
 */
export async function openCrashStores(options: CrashStoresOptions = {}) {
  const { postgresTemplate, isCluster = false, replicatedShards } = options
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tributary-crashes-')))
  if (postgresTemplate) {
    await cp(postgresTemplate, join(folder, 'postgres'), { recursive: true })
    // As after it was created: a power cut does not remove it.
    if (options.folder) execFileSync('sync', ['-f', folder])
  }
  const replicas = replicatedShards ? await startReplicas({ shards: replicatedShards }) : undefined
  const shards = isCluster ? await startCluster() : undefined
  const kept = shards?.nodes.map(keepRunning)
  const cluster = replicas ?? shards
  const nodes: Nodes = cluster?.nodes ?? [await startClickHouse(options.folder)]
  const server = options.hasPostgresServer ? await startPostgres() : undefined
  const environment: Record<string, string> & { CLICKHOUSE_URL: string } = {
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    ...(server && { DATABASE_URL: server.url('tributary') }),
    ...(cluster?.environment ?? { CLICKHOUSE_URL: nodes[0].url('admin') }),
  }
  const stores = await openStores(readSettings(environment), () => {})
  await migrate(stores)
  return {
    stores,
    environment,
    replicas,
    nodes: kept ? restartedBy(nodes, kept) : nodes,
    postgres: server ?? embeddedPostgres(folder, stores.postgres),
    postgresAddress: server
      ? { host: '127.0.0.1', port: server.port }
      : { path: embeddedPathsOf(folder).postgresSocket },
    async close(): Promise<void> {
      await stores.close()
      // The embedded engine would stay for a moment to serve the next client.
      for (const { id } of processesOf(folder)) process.kill(id, 'SIGKILL')
      for (const node of kept ?? []) node.stop()
      await Promise.all([...(cluster ? [cluster] : nodes), ...(server ? [server] : [])].map((one) => one.close()))
      if (options.folder) return
      await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 250 })
    },
  }
}

type Nodes = readonly [ClickHouseServer, ...ClickHouseServer[]]

/** The same nodes; they are started again when they end, so `start` only waits. */
function restartedBy(nodes: Nodes, kept: readonly KeptNode[]): Nodes {
  const [first, ...others] = nodes.map((node, index) =>
    Object.create(node, { start: { value: () => kept[index]?.running() } }),
  )
  return [first, ...others]
}

/** Runs something with what is opened, and closes it. */
export async function withOpened<Opened extends { close(): Promise<void> }, Result>(
  opening: Promise<Opened>,
  run: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await opening
  try {
    return await run(opened)
  } finally {
    await opened.close()
  }
}

/** Both nodes as one victim: once the first one responds again, the second one is killed. */
export function inTurn([one, other]: readonly Victim[]): Victim {
  if (!one || !other) throw new Error('two nodes are needed')
  return {
    get pid() {
      return one.pid
    },
    get ended() {
      return one.ended
    },
    kill: () => one.kill(),
    async start() {
      await one.start()
      await other.kill()
      await other.start()
    },
  }
}

/** After this number of exits within 30 s, the supervisor waits before it restarts an engine. */
const exitsMax = 4

const startMaxMs = 60_000

/** The embedded Postgres of a folder. Its supervisor restarts it; the supervisor is killed before it would wait. */
function embeddedPostgres(folder: string, sql: Postgres): Victim {
  let exits = 0
  const pidOf = (program: string) => processIdOf(folder, program)
  return {
    get pid() {
      const pid = pidOf('postgres/engine')
      if (!pid) throw new Error('The embedded Postgres does not run.')
      return pid
    },
    get ended() {
      const { pid } = this
      return until(async () => !(await holds(() => process.kill(pid, 0))), Number.POSITIVE_INFINITY)
    },
    async kill() {
      const { pid, ended } = this
      process.kill(pid, 'SIGKILL')
      await ended
    },
    async start() {
      exits += 1
      const supervisor = pidOf('supervisor')
      if (exits % exitsMax === 0 && supervisor) process.kill(supervisor, 'SIGKILL')
      await until(() => holds(() => sql`SELECT 1`), startMaxMs)
    },
  }
}

/**
 * Runs an operation while a process is killed at an instant; the process is restarted at once.
 * @returns `diedAt`: arguments of the call at which it was killed; undefined when the operation made fewer calls
 */
export async function withKill<Result>(
  victim: Victim,
  instant: Instant,
  operation: () => Promise<Result>,
): Promise<{ result: Result; diedAt: string | undefined }> {
  const { pid, ended } = victim
  const kill = await armKill(pid, instant)
  const result = operation()
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
  // A merge may have made the call after the operation ended.
  if (diedAt !== undefined && !isDead) {
    await ended
    await victim.start()
  }
  return { result: await result, diedAt }
}
