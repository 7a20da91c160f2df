import type { ClickHouseSettings } from '@clickhouse/client'
import { causeOf } from '../../expectedError.ts'
import { type ClickHouseAddress, type Client, connect, ensureDatabase } from '../clickhouse/client.ts'
import { runPeriodically } from '../timing/periodic.ts'
import { chooseServer, quorumOf, replicaSettings } from './chooseServer.ts'
import { type Cluster, type ClusterNaming, type ClusterNode, openCluster } from './cluster.ts'

/** The connections to ClickHouse. Read `client` at each use: it changes when the embedded engine restarts, and with the node. */
export type ClickHouse = ReturnType<typeof openClickHouse>

/**
 * Settings for distributed tables: a subquery runs once over all shards; an insert ends when every shard has its rows, on as many
 * replicas as `quorumOf` says. After 20 s ClickHouse stops waiting for the other replica; the outcome is then unknown.
 * TRAP: with `parallel_distributed_insert_select`, on by default, a repair would compare sums and rows of each shard alone.
 */
const clusterSettings: ClickHouseSettings = {
  distributed_product_mode: 'global',
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '0',
  insert_quorum_timeout: 20_000,
}

/** Time from one look at the nodes of a cluster to the next. */
const lookPauseMs = 1_000

/**
 * Opens connections, lazily.
 * @param readerAddress the same database, as a read-only user
 * @param naming of a cluster. Statements of a user go to the server of its address, or to another node while that one does not respond
 */
export function openClickHouse(address: ClickHouseAddress, readerAddress = address, naming?: ClusterNaming) {
  let cluster: Cluster | undefined
  const ofCluster: ClickHouseSettings = {
    ...clusterSettings,
    // Computed for each statement: it depends on the time since the last look.
    get insert_quorum() {
      return quorumOf(cluster)
    },
  }
  const settings = naming ? ofCluster : {}
  let stopLooking: (() => Promise<void>) | undefined
  let homes = { writes: address, reads: readerAddress }
  let urls = { writes: address.url, reads: readerAddress.url }
  /** Connections to a node stay open when statements go to another one: a response may last longer. */
  let opened: Record<string, Client> = {}
  let silent: readonly ClusterNode[] = []

  function clientOf(role: 'writes' | 'reads'): Client {
    const key = `${role} ${urls[role]}`
    opened[key] ??= connect({ ...homes[role], url: urls[role] }, settings)
    return opened[key]
  }

  function follow({ allNodes, nodes, servers, isReplicated }: Cluster): void {
    const before = silent
    silent = allNodes.filter(({ failure }) => failure !== undefined)
    for (const node of allNodes) {
      if (before.includes(node) === silent.includes(node)) continue
      const change = node.failure === undefined ? 'responds again' : `is unavailable: ${causeOf(node.failure)}`
      clickhouse.onNotice?.(`ClickHouse: ${node.url} ${change}.`)
    }
    for (const role of ['writes', 'reads'] as const) {
      const url = chooseServer(servers, homes[role].url, urls[role])
      if (url !== urls[role]) clickhouse.onNotice?.(`ClickHouse: ${role} go to ${url} instead of ${urls[role]}.`)
      urls[role] = url
    }
    if (isReplicated) Object.assign(settings, replicaSettings(nodes, urls.reads))
  }

  const clickhouse = {
    get client() {
      return clientOf('writes')
    },
    /** Connections for reads of callers, as a read-only user if the settings name one. Writes and look-ups never wait for them. */
    get reader() {
      return clientOf('reads')
    },
    database: address.database,
    /** The cluster of `CLICKHOUSE_CLUSTER`; known after `reach`. */
    get cluster() {
      return cluster
    },
    /** Called after every query and insert, failed ones too. */
    onQuery: undefined as ((label: string, seconds: number) => void) | undefined,
    /** Receives a line when a node of a cluster stops or begins to respond, and when statements go to another one. */
    onNotice: undefined as ((line: string) => void) | undefined,
    /** Verifies the server, or the nodes, and the databases, or creates these. @throws what `openCluster` throws */
    async reach(mayCreate: boolean) {
      if (!naming) return await ensureDatabase(homes.writes, mayCreate)
      const found = cluster ?? (await openCluster([address, readerAddress], naming, mayCreate))
      cluster = found
      follow(found)
      const look = async (signal: AbortSignal) => {
        await found.look()
        // A look fails with the connections that `close` ends.
        if (!signal.aborted) follow(found)
      }
      stopLooking ??= runPeriodically(look, () => {}, lookPauseMs)
    },
    /** Sends later queries to other addresses; those in flight end where they began. */
    moveTo(writes: ClickHouseAddress, reads = writes) {
      for (const client of Object.values(opened)) void client.close()
      opened = {}
      homes = { writes, reads }
      urls = { writes: writes.url, reads: reads.url }
    },
    async close() {
      const stopped = stopLooking?.()
      await Promise.all(Object.values(opened).map((client) => client.close()))
      await Promise.all([cluster?.close(), stopped])
    },
  }
  return clickhouse
}

/** @returns the nodes of a cluster that do not respond */
export function silentNodesOf({ cluster }: Pick<ClickHouse, 'cluster'>): ClusterNode[] {
  return cluster?.nodes.filter(({ failure }) => failure !== undefined) ?? []
}

/** @returns the connections to every node of a cluster, each with its own tables, or to the single server */
export function nodesOf({ client, cluster }: ClickHouse): Client[] {
  return cluster ? cluster.nodes.map((node) => node.client) : [client]
}

/** @returns the connections to one replica of each shard, which sends mutations to the others; without replicas, to every node */
export function firstReplicasOf(clickhouse: ClickHouse): Client[] {
  const { cluster } = clickhouse
  if (!cluster?.isReplicated) return nodesOf(clickhouse)
  return [...new Map(cluster.nodes.toReversed().map((node) => [node.shard, node.client])).values()]
}
