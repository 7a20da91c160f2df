import type { ClickHouseClient } from '@clickhouse/client'
import { SettingsError } from '../../settings.ts'
import { type ClickHouseAddress, connect, ensureDatabase } from './client.ts'

/** Nodes with their own rows in a local database, like single servers; queries use a second one with `Distributed` tables over them. */
export type Cluster = Awaited<ReturnType<typeof openCluster>>

export interface ClusterNaming {
  name: string
  /** HTTP addresses of its nodes; empty: the hosts of the cluster's configuration, at the port of `CLICKHOUSE_URL`. */
  nodeUrls: readonly string[]
}

export interface Identity {
  host: string
  shard: string
  replica: string
}

/**
 * Finds the nodes of a cluster, verifies that each responds and none is missing, and that each has its databases.
 * @param mayCreate whether missing databases are created
 * @throws SettingsError when there is no such cluster or its nodes differ from the settings
 */
export async function openCluster(
  client: ClickHouseClient,
  address: ClickHouseAddress,
  { name, nodeUrls }: ClusterNaming,
  mayCreate: boolean,
) {
  const members = await membersOf(client, name)
  if (nodeUrls.length > 0 && nodeUrls.length !== members.length) {
    throw new SettingsError(
      `CLICKHOUSE_NODES: the cluster ${name} has ${members.length} nodes, ${nodeUrls.length} are named.`,
    )
  }
  const localDatabase = `${address.database}_local`
  const urls = nodeUrls.length > 0 ? nodeUrls : members.map(({ host }) => withHost(address.url, host))
  const clients = urls.map((url) => connect({ ...address, url, database: localDatabase }))
  const close = () => Promise.all(clients.map((node) => node.close()))
  try {
    for (const url of urls) {
      await ensureDatabase({ ...address, url, database: localDatabase }, mayCreate)
      // The database of the distributed tables: any node can be queried.
      await ensureDatabase({ ...address, url }, mayCreate)
    }
    const identities = await Promise.all(clients.map(identify))
    /** Whether the nodes of a shard replicate, by their macros `{shard}` and `{replica}`. */
    const isReplicated = assertClusterTopology(name, members, identities)
    return {
      name,
      localDatabase,
      /** Number of shards. The hash of a row modulo this number selects its shard. */
      shards: new Set(members.map(({ shardNumber }) => shardNumber)).size,
      isReplicated,
      nodes: clients.map((node, index) => {
        const shard = identities[index]?.shard ?? ''
        return {
          url: urls[index] ?? '',
          /** The macro `{shard}`: nodes with the same one are replicas; empty without replicas. */
          shard,
          /** Uses the local database of this server. */
          client: node,
          /** Whether it is the first replica of its shard: rows inserted there are replicated to the others. */
          isFirst: !isReplicated || identities.findIndex((other) => other.shard === shard) === index,
        }
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export interface Member {
  host: string
  shardNumber: number
}

async function membersOf(client: ClickHouseClient, name: string): Promise<Member[]> {
  const query = `
    SELECT cluster, host_name AS host, shard_num AS shardNumber
    FROM system.clusters
    ORDER BY cluster, shard_num, replica_num`
  const rows = await (await client.query({ query, format: 'JSONEachRow' })).json<Member & { cluster: string }>()
  const members = rows.filter(({ cluster }) => cluster === name)
  if (members.length === 0) {
    const known = [...new Set(rows.map(({ cluster }) => cluster))].join(', ') || 'none'
    throw new SettingsError(
      `CLICKHOUSE_CLUSTER=${name}: the server of CLICKHOUSE_URL has no such cluster, but ${known}.`,
    )
  }
  return members
}

async function identify(client: ClickHouseClient): Promise<Identity> {
  const query = `
    SELECT concat(hostName(), ':', toString(tcpPort())) AS host,
      anyIf(substitution, macro = 'shard') AS shard, anyIf(substitution, macro = 'replica') AS replica
    FROM system.macros`
  const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<Identity>()
  return row ?? { host: '', shard: '', replica: '' }
}

/**
 * @returns whether the nodes replicate
 * @throws SettingsError when one node is named twice, nodes of one shard do not replicate, or a shard has too many replicas
 */
export function assertClusterTopology(
  name: string,
  members: readonly Member[],
  identities: readonly Identity[],
): boolean {
  const hosts = new Set(identities.map(({ host }) => host)).size
  if (hosts < members.length) {
    throw new SettingsError(
      `CLICKHOUSE_NODES: ${hosts} of the ${members.length} nodes of the cluster ${name} are named.`,
    )
  }
  const replicas = identities.filter(({ shard, replica }) => shard !== '' && replica !== '').length
  const shards = new Set(members.map(({ shardNumber }) => shardNumber)).size
  if (replicas < members.length && (replicas > 0 || shards < members.length)) {
    throw new SettingsError(
      `CLICKHOUSE_CLUSTER=${name}: ${replicas} of its ${members.length} nodes have the macros shard and replica; replicas need them on all.`,
    )
  }
  const sizes = members.map(({ shardNumber }) => members.filter((other) => other.shardNumber === shardNumber).length)
  const most = Math.max(...sizes)
  if (most > replicasMax) {
    throw new SettingsError(
      `CLICKHOUSE_CLUSTER=${name}: a shard has ${most} replicas, ${replicasMax} are supported; docs/scaling.md has the reason.`,
    )
  }
  return replicas > 0
}

/** A write is confirmed by a majority: of two by both. A third could be behind, and a look-up there miss a stored click. */
const replicasMax = 2

function withHost(url: string, host: string): string {
  const changed = new URL(url)
  changed.hostname = host.includes(':') ? `[${host}]` : host
  return changed.origin
}
