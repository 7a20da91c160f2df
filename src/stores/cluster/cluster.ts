import { SettingsError } from '../../settings/settings.ts'
import { type ClickHouseAddress, type Client, connect, ensureDatabase } from '../clickhouse/client.ts'
import { withDeadline } from '../timing/deadline.ts'
import { measureElapsed } from '../timing/elapsed.ts'
import { askNode, isRegisteredAlone, type ReplicaState, readReplicaState } from './replicaState.ts'

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
 * A server of a cluster, as it was when it was last asked. Its identity is empty until it has responded once. Nodes with the same macro
 * `{shard}` are replicas.
 */
export interface ClusterNode extends Identity {
  readonly url: string
  /** Uses the local database of this server. */
  readonly client: Client
  /** What a replica said last; undefined until it has responded once. */
  state?: ReplicaState | undefined
  /** The error if it did not respond; undefined: it did. */
  failure?: unknown
}

/** A node that is needed does not respond, or rejects the connection. The message names the setting and the node. */
export class NodeUnavailable extends Error {}

/** A busy server responds to a start later than to a regular question. */
const openTimeoutMs = 5_000
/** With the pause between two looks, an instance leaves a suspended node within 3 s. */
const lookTimeoutMs = 2_000
/** From one look, which takes up to 4 s, to the end of the next one, on a busy machine too. */
const removedMaxMs = 8_000

/**
 * Finds the nodes of a cluster, and verifies that each has its databases. One replica of every shard must respond; without replicas
 * every node.
 * @param addresses of the writer and of the reader; nodes are asked as the writer
 * @param mayCreate whether missing databases are created
 * @throws SettingsError when there is no such cluster or its nodes differ from the settings, NodeUnavailable, or the error of the
 *   server of CLICKHOUSE_URL if no server responds
 */
export async function openCluster(
  [address, reader]: readonly [ClickHouseAddress, ClickHouseAddress],
  { name, nodeUrls }: ClusterNaming,
  mayCreate: boolean,
) {
  const isNamed = nodeUrls.length > 0
  const members = await membersAt(address, name).catch((error) => {
    if (error instanceof SettingsError) throw error
    return Promise.any(nodeUrls.map((url) => membersAt({ ...address, url }, name))).catch(() => Promise.reject(error))
  })
  if (isNamed && nodeUrls.length !== members.length) {
    throw new SettingsError(
      `CLICKHOUSE_NODES: the cluster ${name} has ${members.length} nodes, ${nodeUrls.length} are named.`,
    )
  }
  const localDatabase = `${address.database}_local`
  const urls = isNamed ? nodeUrls : members.map(({ host }) => withHost(address.url, host))
  // The settings may also name a load balancer.
  const others = [address.url, reader.url].filter((url) => !urls.includes(url))
  const servers = [...urls, ...others].map(
    (url): ClusterNode => ({ ...unknown, url, client: connect({ ...address, url, database: localDatabase }) }),
  )
  const nodes: readonly ClusterNode[] = servers.slice(0, urls.length)
  let removed: readonly ClusterNode[] = []
  let sinceLookMs = () => 0

  async function look(timeoutMs = lookTimeoutMs): Promise<void> {
    const elapsedMs = measureElapsed()
    await Promise.all(servers.map((server) => ask(server, timeoutMs)))
    removed = await findRemoved(nodes)
    sinceLookMs = elapsedMs
  }
  async function ask(server: ClusterNode, timeoutMs: number): Promise<void> {
    const { url, client } = server
    try {
      await within(timeoutMs, async (signal) => {
        // The second one has the distributed tables: any node can be queried.
        for (const database of server.host === '' ? [localDatabase, address.database] : [])
          await ensureDatabase({ ...address, url, database }, mayCreate, signal)
        if (!isReplica(server)) Object.assign(server, ...(await askNode<Identity>(client, identityQuery, signal)))
        if (isReplica(server)) [server.state] = await readReplicaState(client, signal)
      })
      server.failure = undefined
    } catch (error) {
      server.failure = error
    }
  }
  const close = () => Promise.all(servers.map(({ client }) => client.close()))

  try {
    await look(openTimeoutMs)
    const responding = nodes.filter(({ failure }) => failure === undefined)
    const silent = nodes.find(({ failure }) => failure !== undefined)
    const isReplicated = assertClusterTopology(name, members, responding)
    const shards = new Set(members.map(({ shardNumber }) => shardNumber)).size
    const served = new Set(responding.map(({ shard, host }) => (isReplicated ? shard : host))).size
    if (silent && served < shards) {
      const setting = isNamed ? 'CLICKHOUSE_NODES' : 'CLICKHOUSE_CLUSTER'
      throw new NodeUnavailable(`${setting}: ${silent.url}`, { cause: silent.failure })
    }
    return {
      name,
      localDatabase,
      /** Number of shards. The hash of a row modulo this number selects its shard. */
      shards,
      /** Whether the nodes of a shard replicate, by their macros `{shard}` and `{replica}`. */
      isReplicated,
      /**
       * The nodes that have rows, also while they do not respond; without replicas that were removed from Keeper. In a process that was
       * suspended they are all nodes until the next look: a removed one may have been replaced.
       */
      get nodes(): readonly ClusterNode[] {
        return nodes.filter((node) => sinceLookMs() > removedMaxMs || !removed.includes(node))
      },
      /** The nodes of the settings. */
      allNodes: nodes,
      /** The servers that an instance may send its statements to. */
      servers,
      /** Asks every server again who and how it is. One that does not respond is no error. */
      look: () => look(),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const within = <Result>(timeoutMs: number, work: (signal: AbortSignal) => Promise<Result>) =>
  withDeadline(timeoutMs, () => new Error(`no response within ${timeoutMs} ms`), work)

const isReplica = ({ shard, replica }: Identity): boolean => shard !== '' && replica !== ''

/**
 * Finds the replicas without a response, or without usable tables, that Keeper does not know: an operator has removed them. For a replica
 * with records and without tables, a migration has begun.
 */
async function findRemoved(nodes: readonly ClusterNode[]): Promise<ClusterNode[]> {
  const isPresent = ({ failure, state }: ClusterNode) =>
    failure === undefined && state?.hasTables === true && !state.isForgotten
  const present = nodes.filter(isPresent)
  if (present.length === nodes.length) return []
  const single = present.filter((one) => present.every((other) => other === one || other.shard !== one.shard))
  const isAlone = ({ client }: ClusterNode) =>
    within(lookTimeoutMs, (signal) => isRegisteredAlone(client, signal)).catch(() => false)
  const answers = await Promise.all(single.map(isAlone))
  return nodes.filter((node) => {
    // The shard of a node that has never responded is unknown.
    const others = answers.filter((_, index) => ['', single[index]?.shard].includes(node.shard))
    return !present.includes(node) && others.length > 0 && others.every(Boolean)
  })
}

export interface Member {
  host: string
  shardNumber: number
}

/** Reads the members of a cluster. @throws SettingsError, or the error of the server */
async function membersAt(address: ClickHouseAddress, name: string): Promise<Member[]> {
  // TRAP: a request that names a missing database is rejected, so this one names `default`.
  const client = connect({ ...address, database: 'default' })
  const query = `
    SELECT cluster, host_name AS host, shard_num AS shardNumber
    FROM system.clusters
    ORDER BY cluster, shard_num, replica_num`
  const read = (signal: AbortSignal) => askNode<Member & { cluster: string }>(client, query, signal)
  const rows = await within(openTimeoutMs, read).finally(() => client.close())
  const members = rows.filter(({ cluster }) => cluster === name)
  if (members.length === 0) {
    const known = [...new Set(rows.map(({ cluster }) => cluster))].join(', ') || 'none'
    throw new SettingsError(
      `CLICKHOUSE_CLUSTER=${name}: the server of CLICKHOUSE_URL has no such cluster, but ${known}.`,
    )
  }
  return members
}

const unknown: Identity = { host: '', shard: '', replica: '' }

const identityQuery = `
  SELECT concat(hostName(), ':', toString(tcpPort())) AS host,
    anyIf(substitution, macro = 'shard') AS shard, anyIf(substitution, macro = 'replica') AS replica
  FROM system.macros`

/**
 * @param identities of the nodes that respond
 * @returns whether the nodes replicate
 * @throws SettingsError when one node is named twice, nodes of one shard do not replicate, or a shard has too many replicas
 */
export function assertClusterTopology(name: string, members: readonly Member[], identities: readonly Identity[]) {
  const hosts = new Set(identities.map(({ host }) => host)).size
  if (hosts < identities.length) {
    throw new SettingsError(
      `CLICKHOUSE_NODES: ${hosts} of the ${members.length} nodes of the cluster ${name} are named.`,
    )
  }
  const replicas = identities.filter(isReplica).length
  const shards = new Set(members.map(({ shardNumber }) => shardNumber)).size
  if (replicas < identities.length && (replicas > 0 || shards < members.length)) {
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
