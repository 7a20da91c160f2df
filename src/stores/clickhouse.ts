import { type ClickHouseClient, ClickHouseError, createClient } from '@clickhouse/client'

/** Where ClickHouse answers and as whom we ask. */
export interface ClickHouseAddress {
  url: string
  username: string
  password: string
  database: string
}

/** The one ClickHouse of this process. Ask for `client` at each use: it changes when the embedded engine moves. */
export interface ClickHouse {
  readonly client: ClickHouseClient
  /** Asks only: as a user that may do nothing else where the settings name one, else the same as `client`. */
  readonly reader: ClickHouseClient
  readonly database: string
  /** Told of every question and insert when it has ended, however it ended. */
  onQuery: ((label: string, seconds: number) => void) | undefined
  /** Makes sure that it answers and that our database is there; a new server has none. */
  makeDatabase(): Promise<void>
  /** Sends what comes next to another address; what is under way ends where it began. */
  moveTo(address: ClickHouseAddress): void
  close(): Promise<void>
}

/** Longer than any query may take on the server, so that the server's clear error comes first. */
const requestTimeoutMs = 30_000

/**
 * Opens connections lazily: nothing is sent before the first query.
 * @param readerAddress the same database, as a user that may only read
 */
export function openClickHouse(address: ClickHouseAddress, readerAddress?: ClickHouseAddress): ClickHouse {
  let present = address
  let client = connect(address)
  const reader = readerAddress && connect(readerAddress)
  return {
    get client() {
      return client
    },
    get reader() {
      return reader ?? client
    },
    database: address.database,
    onQuery: undefined,
    async makeDatabase() {
      try {
        await client.command({ query: 'SELECT 1' })
      } catch (error) {
        if (!(error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')) throw error
        // TRAP: a request that names a database which does not exist is refused whatever it asks, so this one names none.
        const outside = connect({ ...present, database: 'default' })
        await outside.command({
          query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
          query_params: { database: address.database },
        })
        await outside.close()
      }
    },
    moveTo(next) {
      present = next
      const previous = client
      client = connect(next)
      void previous.close()
    },
    async close() {
      await Promise.all([client.close(), reader?.close()])
    },
  }
}

/** Whether an error is an answer of the server: it was reached, and did not do what it was asked. */
export function isClickHouseRefusal(error: unknown): boolean {
  return error instanceof ClickHouseError
}

/** Whether an error says that a table is not there. */
export function isUnknownTable(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'UNKNOWN_TABLE'
}

function connect(address: ClickHouseAddress): ClickHouseClient {
  return createClient({
    ...address,
    request_timeout: requestTimeoutMs,
    max_open_connections: 32,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    compression: { request: false, response: false },
    log: { level: 127 },
  })
}
