import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { type ClickHouseAddress, connect, ensureDatabase } from './client.ts'
import { type Cluster, openCluster } from './cluster.ts'

/** The one ClickHouse of this process. Ask for `client` at each use: it changes when the embedded engine moves. */
export interface ClickHouse {
  readonly client: ClickHouseClient
  /**
   * Asks only, over connections of its own: as a user that may do nothing else where the settings name one. Writes, and
   * what events have to know before they are stored, go by `client`, so that they never stand in line behind callers' reads.
   */
  readonly reader: ClickHouseClient
  readonly database: string
  /** The nodes that the rows lie on, where `CLICKHOUSE_CLUSTER` names a cluster; known from `makeDatabase` on. */
  readonly cluster: Cluster | undefined
  /** Told of every question and insert when it has ended, however it ended. */
  onQuery: ((label: string, seconds: number) => void) | undefined
  /**
   * Makes sure that it answers, as does every node of its cluster, and that our databases are there; a new server has none.
   * @throws SettingsError when there is no such cluster
   */
  createDatabase(): Promise<void>
  /** Sends the queries that follow to other addresses; those in flight end where they began. */
  moveTo(address: ClickHouseAddress, readerAddress?: ClickHouseAddress): void
  close(): Promise<void>
}

/** A cluster as the settings name it. */
export interface ClusterNaming {
  name: string
  /** HTTP addresses of its nodes; none: the hosts that the cluster's own configuration names, at the port of the first address. */
  nodeUrls: readonly string[]
}

/** Progress headers every ten seconds keep the connection of a long statement from idling out. */
export const keepAliveSettings: ClickHouseSettings = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
}

/**
 * Opens connections lazily: nothing is sent before the first query.
 * @param readerAddress the same database, as a user that may only read
 */
export function openClickHouse(
  address: ClickHouseAddress,
  readerAddress?: ClickHouseAddress,
  naming?: ClusterNaming,
): ClickHouse {
  let present = address
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
      await ensureDatabase(client, present)
      if (naming) cluster ??= await openCluster(client, present, naming)
    },
    moveTo(next, nextReader = next) {
      present = next
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

/** Whether an error is an answer of the server: it was reached, and did not do what it was asked. */
export function isClickHouseRejection(error: unknown): boolean {
  return error instanceof ClickHouseError
}

/** Whether `throwIf` ended a statement; in those that write, only deadlines use it. */
export function isDeadlinePassed(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'
}

/** Whether an error says that a table is not there. */
export function isUnknownTable(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'UNKNOWN_TABLE'
}
