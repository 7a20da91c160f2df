import { Agent, type AgentOptions } from 'node:http'
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'

/** Address and credentials of ClickHouse. */
export interface ClickHouseAddress {
  url: string
  /** Unix socket to connect to instead of the host and port of the URL. */
  socketPath?: string
  username: string
  password: string
  database: string
}

/** Longer than the server's limit for a query, so that the server's clearer error comes first. */
const requestTimeoutMs = 30_000

const connectionsMax = 32

/**
 * Settings of every query and insert on distributed tables. A subquery runs once, over all shards, and its result is sent to
 * each; an insert ends when every shard has its rows, on a majority of its replicas.
 * TRAP: with `parallel_distributed_insert_select`, on by default, INSERT … SELECT would run on each shard separately, and a
 * repair would compare the sums of one shard with the rows of one shard.
 */
const clusterSettings: ClickHouseSettings = {
  distributed_product_mode: 'global',
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '0',
  insert_quorum: 'auto',
}

/** Opens connections to one server, lazily. @param isDistributed whether the tables are distributed over shards */
export function connect({ socketPath, ...server }: ClickHouseAddress, isDistributed = false): ClickHouseClient {
  return createClient({
    ...server,
    request_timeout: requestTimeoutMs,
    max_open_connections: connectionsMax,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    compression: { request: false, response: false },
    log: { level: 127 },
    ...(socketPath && { http_agent: agentOf(socketPath) }),
    ...(isDistributed && { clickhouse_settings: clusterSettings }),
  })
}

function agentOf(socketPath: string): Agent {
  // The agent passes its options to `net.connect`, which takes a socket; the types of Node name only those of TCP.
  return new Agent({ socketPath, keepAlive: true, maxSockets: connectionsMax } as AgentOptions)
}

/** Verifies that a server responds, and creates the database of the address if it is missing. */
export async function ensureDatabase(client: ClickHouseClient, address: ClickHouseAddress): Promise<void> {
  try {
    await client.command({ query: 'SELECT 1' })
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error
    // TRAP: a request that names a missing database is rejected, so this one names `default`.
    const withoutDatabase = connect({ ...address, database: 'default' })
    await withoutDatabase.command({
      query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
      query_params: { database: address.database },
    })
    await withoutDatabase.close()
  }
}
