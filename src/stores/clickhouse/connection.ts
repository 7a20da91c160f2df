import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { type ClickHouseAddress, type Client, connect, ensureDatabase } from './client.ts'
import { type Cluster, type ClusterNaming, openCluster } from './cluster.ts'

/** The connections to ClickHouse. Read `client` at each use: it changes when the embedded engine restarts. */
export type ClickHouse = ReturnType<typeof openClickHouse>

/** Progress headers every ten seconds keep the connection of a long statement open. */
export const keepAliveSettings: ClickHouseSettings = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
}

/** Opens connections, lazily. @param readerAddress the same database, as a read-only user */
export function openClickHouse(address: ClickHouseAddress, readerAddress?: ClickHouseAddress, naming?: ClusterNaming) {
  let current = address
  let client = connect(address, naming !== undefined)
  let reader = connect(readerAddress ?? address, naming !== undefined)
  let cluster: Cluster | undefined
  return {
    get client() {
      return client
    },
    /** Connections for reads of callers, as a read-only user if the settings name one. Writes and look-ups never wait for them. */
    get reader() {
      return reader
    },
    database: address.database,
    /** The cluster of `CLICKHOUSE_CLUSTER`; known after `reach`. */
    get cluster() {
      return cluster
    },
    /** Called after every query and insert, failed ones too. */
    onQuery: undefined as ((label: string, seconds: number) => void) | undefined,
    /** Verifies every node and its databases, or creates these. @throws SettingsError when there is no such cluster */
    async reach(mayCreate: boolean) {
      await ensureDatabase(current, mayCreate)
      if (naming) cluster ??= await openCluster(client, current, naming, mayCreate)
    },
    /** Sends later queries to other addresses; those in flight end where they began. */
    moveTo(next: ClickHouseAddress, nextReader = next) {
      current = next
      const previous = [client, reader]
      client = connect(next)
      reader = connect(nextReader)
      for (const one of previous) void one.close()
    },
    async close() {
      await Promise.all([client.close(), reader.close(), cluster?.close()])
    },
  }
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

/** Whether ClickHouse could not store data because its disk is full or fails. */
export function isClickHouseDiskFull(error: unknown): error is ClickHouseError {
  const types = ['NOT_ENOUGH_SPACE', 'CANNOT_WRITE_TO_FILE_DESCRIPTOR']
  return error instanceof ClickHouseError && types.includes(`${error.type}`)
}
