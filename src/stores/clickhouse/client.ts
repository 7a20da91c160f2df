import { Agent, type AgentOptions } from 'node:http'
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'

/** Where ClickHouse answers and as whom we ask. */
export interface ClickHouseAddress {
  url: string
  /** Unix socket to connect to instead of the host and port of the URL. */
  socketPath?: string
  username: string
  password: string
  database: string
}

/** Longer than any query may take on the server, so that the server's clear error comes first. */
const requestTimeoutMs = 30_000

const connectionsMax = 32

/**
 * What every question and insert asks for where tables are spread over shards. A subquery is answered once, over all
 * shards, and its answer sent to each; an insert has ended when every shard has its rows, on most of its replicas.
 * TRAP: with `parallel_distributed_insert_select`, which is on by default, INSERT … SELECT would run on each shard by
 * itself, and a repair would compare the sums of one shard with the rows of one shard.
 */
const clusterSettings: ClickHouseSettings = {
  distributed_product_mode: 'global',
  distributed_foreground_insert: 1,
  parallel_distributed_insert_select: '0',
  insert_quorum: 'auto',
}

/** Opens connections to one server, lazily. @param isSpread whether the tables there are spread over shards */
export function connect({ socketPath, ...server }: ClickHouseAddress, isSpread = false): ClickHouseClient {
  return createClient({
    ...server,
    request_timeout: requestTimeoutMs,
    max_open_connections: connectionsMax,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    compression: { request: false, response: false },
    log: { level: 127 },
    ...(socketPath && { http_agent: agentOf(socketPath) }),
    ...(isSpread && { clickhouse_settings: clusterSettings }),
  })
}

function agentOf(socketPath: string): Agent {
  // The agent passes its options to `net.connect`, which takes a socket; the types of Node name only those of TCP.
  return new Agent({ socketPath, keepAlive: true, maxSockets: connectionsMax } as AgentOptions)
}

/** Makes sure that a server answers and that the database of the address is there. */
export async function ensureDatabase(client: ClickHouseClient, address: ClickHouseAddress): Promise<void> {
  try {
    await client.command({ query: 'SELECT 1' })
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error
    // TRAP: a request that names a database which does not exist is refused whatever it asks, so this one names none.
    const outside = connect({ ...address, database: 'default' })
    await outside.command({
      query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
      query_params: { database: address.database },
    })
    await outside.close()
  }
}
