import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseServer, startClickHouse } from './clickhouseServer.ts'
import { isDockerAvailable, startReplicaContainers } from './docker.ts'
import { freePort } from './serverProcess.ts'
import { holds, until } from './until.ts'
import { startZooKeeper } from './zooKeeper.ts'

export type Replicas = Awaited<ReturnType<typeof startReplicas>>

export interface ReplicaNode extends ClickHouseServer {
  readonly shard: number
  /** Until `startFetches` it gets no rows from the other replica; a restart ends it too. */
  stopFetches(): Promise<unknown>
  startFetches(): Promise<unknown>
  /** Kills it, and removes its rows and tables. */
  loseDisk(): Promise<void>
}

const shardReplicas = 2
const synchronizeMaxMs = 60_000
/** The second address of each engine, for the other replica of its shard. */
const replicaHost = '127.0.0.2'

/**
 * Starts shards of two replicas each, as docs/scaling.md configures them, and waits until they respond: on servers with Keeper in
 * containers where Docker responds, else on embedded engines (test/kit/replicable.mjs) and Debian's ZooKeeper.
 *
 * Embedded engines run the code of a server for inserts with a quorum, fetches, merges, mutations, sessions and lost replicas. They
 * replace what a server adds around it, so these remain unproven:
 * - ClickHouse Keeper, and a group of three nodes with elections: one ZooKeeper 3.8 takes its place;
 * - the start of a server (configuration files and their reload, its UUID, DDL queue), its orderly end by SIGTERM, and what it does
 *   after the error of a connection: it logs the error, the changed engine does nothing;
 * - encrypted connections between replicas, and credentials of their port;
 * - several machines: clocks differ in no test, a network that drops only some connections, a power cut, a slow disk.
 * @param sessionTimeoutMs 1,000 to 10,000: after it a node that does not respond counts as inactive
 */
export async function startReplicas({ shards = 1, sessionTimeoutMs = 3_000 } = {}) {
  const count = shards * shardReplicas
  const indexes = Array.from({ length: count }, (_, index) => index)
  const shardOf = (index: number) => Math.floor(index / shardReplicas)
  /** @param hosts of the nodes, with their ports */
  const xmlOf = (own: number, hosts: readonly string[], keeper: string) => {
    const shardXml = (shard: number) => {
      const members = hosts.filter((_, index) => shardOf(index) === shard)
      return `<shard><internal_replication>true</internal_replication>${members.map((host) => `<replica>${host}</replica>`).join('')}</shard>`
    }
    // TRAP: the engine has no UUID, and a server ends other sessions of its own UUID, so each node has its own path for it.
    return `<zookeeper><node>${keeper}</node><session_timeout_ms>${sessionTimeoutMs}</session_timeout_ms><sessions_path>/sessions/${own}</sessions_path></zookeeper>
  <macros><shard>${shardOf(own)}</shard><replica>r${own % shardReplicas}</replica></macros>
  <remote_servers><pair><secret>of-both</secret>${Array.from({ length: shards }, (_, shard) => shardXml(shard)).join('')}</pair></remote_servers>`
  }
  const addressXml = (host: string, port: number) => `<host>${host}</host><port>${port}</port>`

  async function startContainers() {
    const hosts = indexes.map((index) => addressXml(`node-${index}`, 9000))
    return await startReplicaContainers(count, (index) => xmlOf(index, hosts, addressXml('keeper', 9181)))
  }

  async function startProcesses() {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-replicas-'))
    const keeper = await startZooKeeper(join(folder, 'zookeeper'))
    const ports = await Promise.all(indexes.map(() => freePort()))
    const hosts = ports.map((port) => addressXml('127.0.0.1', port))
    const listen = ['127.0.0.1', replicaHost].map((host) => `<listen_host>${host}</listen_host>`).join('')
    const nodes = await Promise.all(
      ports.map(async (tcpPort, index) => {
        const own = join(folder, `node-${index}`)
        await mkdir(own)
        const configXml = `${listen}${xmlOf(index, hosts, addressXml('127.0.0.1', keeper.port))}`
        const node = await startClickHouse(own, { configXml, tcpPort, replicaHost })
        const loseDisk = async () => {
          await node.kill()
          await rm(join(own, 'data'), { recursive: true })
        }
        return Object.assign(node, { loseDisk })
      }),
    )
    return {
      keeper,
      nodes,
      async close(): Promise<void> {
        await Promise.all([keeper.kill(), ...nodes.map((node) => node.close())])
        await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
      },
    }
  }

  const started = await ((await isDockerAvailable()) ? startContainers() : startProcesses())
  const nodes: ReplicaNode[] = started.nodes.map((node, index) =>
    Object.assign(node, {
      shard: shardOf(index),
      stopFetches: () => node.run('admin', 'SYSTEM STOP FETCHES'),
      startFetches: () => node.run('admin', 'SYSTEM START FETCHES'),
    }),
  )
  const [first, second, ...others] = nodes
  if (!first || !second) throw new Error('no shard')
  const environment = {
    CLICKHOUSE_URL: first.url('admin'),
    CLICKHOUSE_CLUSTER: 'pair',
    CLICKHOUSE_NODES: nodes.map(({ port }) => `http://127.0.0.1:${port}`).join(','),
  }
  return {
    nodes: [first, second, ...others] as const,
    keeper: started.keeper,
    /** Environment of a program that uses the cluster through the first node. */
    environment,
    /** Waits until every node has all rows of its shard. @throws Error while a node is down or fetches nothing */
    async synchronize(): Promise<void> {
      await until(() => holds(() => Promise.all(nodes.map(synchronizeNode))), synchronizeMaxMs)
    },
    close: () => started.close(),
  }
}

async function synchronizeNode({ run }: ReplicaNode): Promise<void> {
  const tables = await run('admin', "SELECT concat(database, '.', table) FROM system.replicas")
  for (const table of tables.split('\n').filter(Boolean)) await run('admin', `SYSTEM SYNC REPLICA ${table}`)
}
