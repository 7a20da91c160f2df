import * as http from 'node:http'
import * as https from 'node:https'
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { openReads, type Read } from './sendSelect.ts'

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

/** An unused connection is closed after it. A shorter timeout that the server names is kept. */
const idleConnectionMs = 2_500

/** Progress headers every ten seconds keep the connection of a long statement open. */
export const keepAliveSettings: ClickHouseSettings = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
}

/** Connections to one server: the driver sends writes and commands, `read` SELECTs. */
export interface Client extends ClickHouseClient {
  readonly read: Read
}

/** Opens connections to one server, lazily. @param settings of every statement; reads use them as they are when they are sent */
export function connect(address: ClickHouseAddress, settings: ClickHouseSettings = {}): Client {
  const { socketPath, ...server } = address
  const agent = agentOf(address)
  const driver = createClient({
    ...server,
    http_agent: agent,
    request_timeout: requestTimeoutMs,
    // The agent closes idle connections: the driver would not see that `read` uses them.
    keep_alive: { enabled: true, idle_socket_ttl: 0 },
    compression: { request: false, response: false },
    log: { level: 127 },
    clickhouse_settings: settings,
  })
  return Object.assign(driver, { read: openReads(address, agent, requestTimeoutMs, settings) })
}

function agentOf({ url, socketPath }: ClickHouseAddress): http.Agent {
  // The agent passes its options to `net.connect`, which takes a socket; the types of Node name only options of TCP.
  const options = {
    socketPath,
    keepAlive: true,
    maxSockets: connectionsMax,
    timeout: idleConnectionMs,
  } as http.AgentOptions
  return url.startsWith('https:') ? new https.Agent(options) : new http.Agent(options)
}

/** Verifies that a server responds, and creates the database of the address if it is missing. @param signal ends the attempt */
export async function ensureDatabase(address: ClickHouseAddress, mayCreate: boolean, signal?: AbortSignal) {
  const client = connect(address)
  try {
    await client.command({ query: 'SELECT 1', ...(signal && { abort_signal: signal }) })
  } catch (error) {
    if (!mayCreate || !(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error
    // TRAP: a request that names a missing database is rejected, so this one names `default`.
    const withoutDatabase = connect({ ...address, database: 'default' })
    await withoutDatabase.command({
      query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
      query_params: { database: address.database },
    })
    await withoutDatabase.close()
  } finally {
    await client.close()
  }
}

/**
 * Runs a statement that writes, and waits until ClickHouse has finished it. @throws ClickHouseError, or a connection's error
 * TRAP: with progress headers the status 200 comes before the end. The driver finds a failure in a later header.
 */
export async function execute(client: ClickHouseClient, statement: Parameters<Client['exec']>[0]): Promise<void> {
  const { stream } = await client.exec(statement)
  for await (const _ of stream);
}
