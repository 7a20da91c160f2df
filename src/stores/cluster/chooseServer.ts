import type { ClickHouseSettings } from '@clickhouse/client'
import type { Cluster, ClusterNode } from './cluster.ts'

type Server = Pick<ClusterNode, 'url' | 'shard' | 'state' | 'failure'>

/** Whether a server responds and has been migrated; a replica then has all rows that were acknowledged before it was last asked. */
export function isUsable({ failure, state }: Server): boolean {
  if (failure !== undefined) return false
  return state === undefined || (state.isMigrated && !state.isForgotten)
}

/** Pairs the replicas that have replaced lost ones, and were not filled yet, with the replicas that have their rows. */
export function newReplicasOf<Node extends Server>(nodes: readonly Node[]): [added: Node, source: Node][] {
  return nodes.flatMap((node): [Node, Node][] => {
    if (node.failure !== undefined || node.state?.isMigrated !== false) return []
    const source = nodes.find((other) => isUsable(other) && other.shard === node.shard)
    return source ? [[node, source]] : []
  })
}

/** Order of preference: 0 is the best. */
function rankOf(server: Server): number {
  if (server.failure !== undefined) return 3
  return isUsable(server) ? Math.min(server.state?.delayS ?? 0, 1) : 2
}

/**
 * Chooses the server to which statements are sent: the one of the settings, unless it does not respond, or has not caught up since.
 * @param home URL in the settings
 * @param present URL that is used now; a short delay is no reason to leave it
 */
export function chooseServer(servers: readonly Server[], home: string, present: string): string {
  const rankAt = (url: string) => Math.min(...servers.filter((server) => server.url === url).map(rankOf))
  const best = Math.min(...servers.map(rankOf))
  if (rankAt(home) === 0) return home
  if (rankAt(present) <= Math.max(best, 1)) return present
  return servers.find((server) => rankOf(server) === best)?.url ?? home
}

/**
 * Which replicas ClickHouse may read. A replica that has rows to fetch is read only if no other one responds, and never while it is
 * filled. The other replica of `url` is not asked while it does not respond: that takes up to 10 s.
 */
export function replicaSettings(nodes: readonly Server[], url: string): ClickHouseSettings {
  const isFilling = newReplicasOf(nodes).some(([{ state }]) => state?.hasTables)
  const own = nodes.find((node) => node.url === url)?.shard
  const isAlone = nodes.some(({ failure, shard }) => failure !== undefined && ['', own ?? shard].includes(shard))
  return {
    max_replica_delay_for_distributed_queries: isAlone && !isFilling ? '0' : '1',
    fallback_to_stale_replicas_for_distributed_queries: isFilling ? 0 : 1,
  }
}

/**
 * The replicas that have the rows of an insert when it ends, for the setting `insert_quorum`: 0 if each shard has one replica left.
 * TRAP: with `auto`, or 1, an insert into the only replica of a shard waits until its timeout; with 2 ClickHouse refuses it.
 */
export function quorumOf(cluster: Pick<Cluster, 'nodes' | 'shards'> | undefined): string {
  return cluster && cluster.nodes.length === cluster.shards ? '0' : '2'
}
