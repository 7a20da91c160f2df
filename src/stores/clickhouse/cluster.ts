import type { ClickHouseClient } from '@clickhouse/client'
import { SettingsError } from '../../settings.ts'
import { type ClickHouseAddress, connect, ensureDatabase } from './client.ts'

/**
 * A ClickHouse cluster. Each node keeps its part of the rows in a database of its own, where tables, views and sums are
 * what they are on a single server; beside it lies the database that everybody asks, whose tables spread over the nodes.
 */
export interface Cluster {
  readonly name: string
  /** The database of each node's own tables. */
  readonly localDatabase: string
  /** How many parts the rows are in: each of them lies where its hash, divided by this, says. */
  readonly shards: number
  readonly nodes: readonly ClusterNode[]
  /** Whether nodes of one shard copy from each other, as their macros `{shard}` and `{replica}` say. */
  readonly isReplicated: boolean
  close(): Promise<void>
}

/** One server of a cluster. */
export interface ClusterNode {
  readonly url: string
  /** Asks this server for its own tables. */
  readonly client: ClickHouseClient
  /** Of servers that copy from each other one is the first: what is inserted there reaches the others by itself. */
  readonly isFirst: boolean
}

/** What a node tells of itself. */
export interface Identity {
  /** No two servers have the same one. */
  host: string
  shard: string
  replica: string
}

/**
 * Finds the nodes of a cluster, makes sure that each of them answers and that none is missing, and makes our databases.
 * @param client asks the server of `address`
 * @throws SettingsError when there is no such cluster or its nodes are not what the settings say
 */
export async function openCluster(
  client: ClickHouseClient,
  address: ClickHouseAddress,
  { name, nodeUrls }: { name: string; nodeUrls: readonly string[] },
): Promise<Cluster> {
  const members = await membersOf(client, name)
  if (nodeUrls.length > 0 && nodeUrls.length !== members.length) {
    throw new SettingsError(
      `CLICKHOUSE_NODES: the cluster ${name} has ${members.length} nodes, ${nodeUrls.length} are named.`,
    )
  }
  const localDatabase = `${address.database}_local`
  const places = (nodeUrls.length > 0 ? nodeUrls : members.map(({ host }) => withHost(address.url, host))).map(
    (url) => ({
      ...address,
      url,
      database: localDatabase,
    }),
  )
  const clients = places.map((place) => connect(place))
  try {
    for (const [index, place] of places.entries()) {
      await ensureDatabase(clients[index] as ClickHouseClient, place)
      await ensureClusterDatabase(place, address.database)
    }
    const identities = await Promise.all(clients.map(identify))
    const isReplicated = assertClusterTopology(name, members, identities)
    return {
      name,
      localDatabase,
      shards: new Set(members.map(({ shardNumber }) => shardNumber)).size,
      isReplicated,
      nodes: clients.map((node, index) => {
        const shard = identities[index]?.shard
        return {
          url: places[index]?.url ?? '',
          client: node,
          isFirst: !isReplicated || identities.findIndex((other) => other.shard === shard) === index,
        }
      }),
      async close() {
        await Promise.all(clients.map((node) => node.close()))
      },
    }
  } catch (error) {
    await Promise.all(clients.map((node) => node.close()))
    throw error
  }
}

/** The database that everybody asks lies on every node, so that each of them may be asked. */
async function ensureClusterDatabase(place: ClickHouseAddress, database: string): Promise<void> {
  const shared = { ...place, database }
  const client = connect(shared)
  await ensureDatabase(client, shared)
  await client.close()
}

/** A node as the configuration of its cluster names it. */
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
 * @returns whether nodes copy from each other
 * @throws SettingsError when one node is named twice, nodes of one shard do not copy from each other, or there are more of
 *   them than are certain to agree
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
  const most = Math.max(...members.map((member) => members.filter((other) => isSameShard(member, other)).length))
  if (most > replicasMax) {
    throw new SettingsError(
      `CLICKHOUSE_CLUSTER=${name}: a shard has ${most} replicas, ${replicasMax} are the most; docs/scaling.md says why.`,
    )
  }
  return replicas > 0
}

/**
 * What is written is confirmed by most replicas: of two, by both. A third could be behind, and who asks it whether a click
 * is stored already would count it twice.
 */
const replicasMax = 2

function isSameShard(one: Member, other: Member): boolean {
  return one.shardNumber === other.shardNumber
}

function withHost(url: string, host: string): string {
  const changed = new URL(url)
  changed.hostname = host.includes(':') ? `[${host}]` : host
  return changed.origin
}
