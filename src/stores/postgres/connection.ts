import postgres from 'postgres'
import { DiskFull, Problem } from '../../problem.ts'
import { SettingsError } from '../../settings/settings.ts'
import { withDeadline } from '../timing/deadline.ts'

/** The pool of connections to Postgres; it connects lazily. */
export type Postgres = postgres.Sql

/** A query that runs when it is awaited. */
export type PendingQuery<Rows extends readonly postgres.MaybeRow[]> = postgres.PendingQuery<Rows>

/** The address of Postgres: a URL, or the socket of the embedded engine. */
export type PostgresAddress = { url: string } | { path: string }

/** Connections of a pool to a server, unless the caller says otherwise. */
export const poolConnectionsMax = 10

/**
 * Opens a pool. The embedded engine is one session, so each pool gets one connection. TRAP: nothing may rely on session state (SET,
 * advisory session locks, LISTEN) for the same reason.
 * @param connectionsMax connections to a server
 */
export function openPostgres(address: PostgresAddress, connectionsMax = poolConnectionsMax): Postgres {
  const options = {
    connect_timeout: 5,
    // In seconds. The driver's default rises to 20, which would delay reconnection after an outage.
    backoff: (attempts: number) => Math.min(0.01 * 2 ** attempts, 0.5),
    onnotice: () => {},
    connection: { application_name: 'tributary' },
  }
  return 'path' in address
    ? postgres({ ...options, path: address.path, max: 1, user: 'postgres', database: 'postgres' })
    : postgres(address.url, { ...options, max: connectionsMax })
}

/** Verifies that Postgres responds in UTF-8, which every name needs. @throws SettingsError when it does not */
export async function assertUtf8(postgres: Postgres): Promise<void> {
  const [row] = await postgres<{ encoding: string }[]>`SELECT current_setting('server_encoding') AS encoding`
  if (row?.encoding === 'UTF8') return
  throw new SettingsError(
    `DATABASE_URL: the database is encoded in ${row?.encoding}, which cannot store every name; create one with ENCODING 'UTF8'.`,
  )
}

/** Socket errors, and SQLSTATE classes 08 (connection), 53 (out of resources), 57P (shutting down, starting) and code 25P03 (idle in a transaction). */
const unreachable = /^(E(?!RR_)[A-Z]+|CONNECTION_|CONNECT_TIMEOUT|08|25P03|53|57P)/

/**
 * Listens on a channel while the pool is open. The embedded engine delivers nothing.
 * @param onNotice receives each payload; undefined at the start and after each reconnection, when notices may be lost
 */
export function listenTo(postgres: Postgres, channel: string, onNotice: (payload: string | undefined) => void): void {
  // The driver retries by itself.
  postgres.listen(channel, onNotice, () => onNotice(undefined)).catch(() => {})
}

/**
 * Has a query planned for the present tables.
 * TRAP: after five executions of a prepared statement the server keeps one plan, perhaps for an almost empty table.
 */
export function withNewPlan<Rows extends readonly postgres.MaybeRow[]>(query: PendingQuery<Rows>): PendingQuery<Rows> {
  // The driver's types name this option only for `unsafe`.
  const { options } = query as unknown as { options: { prepare?: boolean } }
  options.prepare = false
  return query
}

/** Equal to the time limit of a ClickHouse query. */
const queryTimeoutMs = 20_000

/**
 * Runs a query.
 * @throws Problem `unavailable` when Postgres is unreachable, or after `timeoutMs`; `query_timeout` when the server or an operator
 *   ended the query
 */
export async function queryPostgres<Rows>(query: PromiseLike<Rows>, timeoutMs = queryTimeoutMs): Promise<Rows> {
  try {
    return await withDeadline(timeoutMs, postgresUnavailable, () => query)
  } catch (error) {
    if ((error as { code?: unknown }).code === diskFull) throw new DiskFull('Postgres', error)
    if (isPostgresUnreachable(error)) throw postgresUnavailable()
    if ((error as { code?: unknown }).code !== queryCanceled) throw error
    throw new Problem('query_timeout', 'The database ended the query; try again.', { retryAfterS: 5 })
  }
}

/** The SQLSTATE of a statement for which the disk has no space or no free inode. */
const diskFull = '53100'
/** The SQLSTATE of a statement that was cancelled or ran out of the server's `statement_timeout`. */
const queryCanceled = '57014'

function postgresUnavailable(): Problem {
  return new Problem('unavailable', 'Postgres is not reachable at the moment; try again.', { retryAfterS: 2 })
}

/** Whether an error means that Postgres was unreachable, rather than that the query was wrong. */
export function isPostgresUnreachable(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && unreachable.test(code)
}
