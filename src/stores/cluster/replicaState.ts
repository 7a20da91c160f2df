import type { Client } from '../clickhouse/client.ts'
import { readJsonRows } from '../clickhouse/sendSelect.ts'

/** What a replica says about itself. */
export interface ReplicaState {
  /** Whether it has any table. A new replica gets the table of the records of migrations before its other tables. */
  hasTables: boolean
  /** Whether it has records of migrations. A new replica gets them after its rows. */
  isMigrated: boolean
  /** Whether it reaches Keeper, and Keeper does not know its tables. */
  isForgotten: boolean
  /** Age of the oldest rows that it has yet to fetch from the other replica, seconds. */
  delayS: number
  /** Start of the earliest insert of events that runs on it, epoch milliseconds by its clock. */
  eventsSinceMs: number
}

/** Reads the state of a replica, one row. It sends no request to Keeper, so it responds while Keeper does not. */
export async function readReplicaState(client: Client, signal: AbortSignal): Promise<ReplicaState[]> {
  const query = `
    WITH (SELECT (count(), countIf(name = 'schema_migrations' AND total_rows > 0)) FROM system.tables
      WHERE database = currentDatabase()) AS tables
    SELECT toBool(tables.1) AS hasTables, toBool(tables.2) AS isMigrated,
      toBool(countIf(is_readonly AND NOT is_session_expired) > 0) AS isForgotten,
      max(absolute_delay) AS delayS,
      (SELECT toUnixTimestamp64Milli(now64(3)) - toInt64(ceil(maxOrDefault(elapsed) * 1000)) FROM system.processes
        WHERE query_kind = 'Insert' AND position(query, 'pixel_events') > 0) AS eventsSinceMs
    FROM system.replicas
    WHERE database = currentDatabase()`
  return await askNode<ReplicaState>(client, query, signal)
}

/** Whether Keeper knows one replica of the tables only: this one. */
export async function isRegisteredAlone(client: Client, signal: AbortSignal): Promise<boolean> {
  // 0 while Keeper does not respond.
  const query = 'SELECT max(total_replicas) AS most FROM system.replicas WHERE database = currentDatabase()'
  const [row] = await askNode<{ most: number }>(client, query, signal)
  return row?.most === 1
}

/** Sends a query that the log of the server does not get, since some are repeated each second. @throws what `Read` throws */
export async function askNode<Row>({ read }: Client, query: string, signal?: AbortSignal): Promise<Row[]> {
  const settings = { log_queries: 0, output_format_json_quote_64bit_integers: 0 } as const
  const statement = { text: `${query}\nFORMAT JSONEachRow`, params: {} }
  return (await readJsonRows<Row>(await read({ statement, settings, signal }))).rows
}
