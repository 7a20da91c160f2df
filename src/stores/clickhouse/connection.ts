import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { type ClickHouseAddress, type Client, connect, ensureDatabase } from './client.ts'
import { type Cluster, openCluster } from './cluster.ts'

/** The connections to ClickHouse. Read `client` at each use: it changes when the embedded engine restarts. */
export interface ClickHouse {
  readonly client: Client
  /** Connections for reads of callers, as a read-only user if the settings name one. Writes and look-ups never wait for them. */
  readonly reader: Client
  readonly database: string
  /** The cluster of `CLICKHOUSE_CLUSTER`; known after `createDatabase`. */
  readonly cluster: Cluster | undefined
  /** Called after every query and insert, failed ones too. */
  onQuery: ((label: string, seconds: number) => void) | undefined
  /** Verifies that every node responds, and creates missing databases. @throws SettingsError when there is no such cluster */
  createDatabase(): Promise<void>
  /** Sends later queries to other addresses; those in flight end where they began. */
  moveTo(address: ClickHouseAddress, readerAddress?: ClickHouseAddress): void
  close(): Promise<void>
}

export interface ClusterNaming {
  name: string
  /** HTTP addresses of its nodes; empty: the hosts of the cluster's configuration, at the port of `CLICKHOUSE_URL`. */
  nodeUrls: readonly string[]
}

/** Progress headers every ten seconds keep the connection of a long statement open. */
export const keepAliveSettings: ClickHouseSettings = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
}

/** Opens connections, lazily. @param readerAddress the same database, as a read-only user */
export function openClickHouse(
  address: ClickHouseAddress,
  readerAddress?: ClickHouseAddress,
  naming?: ClusterNaming,
): ClickHouse {
  let current = address
  let client = connect(address, naming !== undefined)
  let reader = connect(readerAddress ?? address, naming !== undefined)
  let cluster: Cluster | undefined
  return {
    get client() {
      return client
    },
    get reader() {
      return reader
    },
    database: address.database,
    get cluster() {
      return cluster
    },
    onQuery: undefined,
    async createDatabase() {
      await ensureDatabase(client, current)
      if (naming) cluster ??= await openCluster(client, current, naming)
    },
    moveTo(next, nextReader = next) {
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

/** Whether the server was reached and rejected the request. */
export function isClickHouseRejection(error: unknown): boolean {
  return error instanceof ClickHouseError
}

/** Whether ClickHouse could not store data because its disk is full or fails. */
export function isClickHouseDiskFull(error: unknown): error is ClickHouseError {
  return (
    error instanceof ClickHouseError &&
    ['NOT_ENOUGH_SPACE', 'CANNOT_WRITE_TO_FILE_DESCRIPTOR'].includes(`${error.type}`)
  )
}
