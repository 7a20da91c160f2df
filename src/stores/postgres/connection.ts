import postgres from 'postgres'
import { Problem } from '../../problem.ts'
import { SettingsError } from '../../settings.ts'

/** The one Postgres of this process: a pool that connects lazily. */
export type Postgres = postgres.Sql

/** Where Postgres answers: a URL, or the socket of the embedded engine. */
export type PostgresAddress = { url: string } | { path: string }

/**
 * Opens a pool. The embedded engine is one session behind a socket, so it gets one connection: more would only queue
 * there. TRAP: nothing may rely on session state (SET, advisory session locks, LISTEN) for the same reason.
 * @param connectionsMax connections to a server
 */
export function openPostgres(address: PostgresAddress, connectionsMax = 10): Postgres {
  const options = {
    connect_timeout: 5,
    // In seconds; the driver's own rises to 20 and would keep us away that long after Postgres is back.
    backoff: (attempts: number) => Math.min(0.01 * 2 ** attempts, 0.5),
    onnotice: () => {},
    connection: { application_name: 'tributary' },
  }
  return 'path' in address
    ? postgres({ ...options, path: address.path, max: 1, user: 'postgres', database: 'postgres' })
    : postgres(address.url, { ...options, max: connectionsMax })
}

/**
 * Makes sure that Postgres answers and can store what it is given: a database of another encoding takes some names only.
 * @throws SettingsError when it can't
 */
export async function assertUtf8(postgres: Postgres): Promise<void> {
  const [row] = await postgres<{ encoding: string }[]>`SELECT current_setting('server_encoding') AS encoding`
  if (row?.encoding === 'UTF8') return
  throw new SettingsError(
    `DATABASE_URL: the database is encoded in ${row?.encoding}, which can't hold every name; make one with ENCODING 'UTF8'.`,
  )
}

/** Socket errors, and SQLSTATE classes 08 (connection), 53 (out of resources) and 57P (shutting down, starting). */
const unreachable = /^(E(?!RR_)[A-Z]+|CONNECTION_|CONNECT_TIMEOUT|08|53|57P)/

/**
 * Listens on a channel, over a connection of its own, for as long as the pool is open. Only servers deliver anything.
 * @param onNotice told what was sent; or undefined, once it listens and after each break, when anything may have been missed
 */
export function listenTo(postgres: Postgres, channel: string, onNotice: (payload: string | undefined) => void): void {
  // The driver goes on trying by itself; until it succeeds nothing is told, which nobody relies on.
  postgres.listen(channel, onNotice, () => onNotice(undefined)).catch(() => {})
}

/** As long as ClickHouse has for a question. One that takes longer has failed, or its caller would wait for ever. */
const queryTimeoutMs = 20_000

/**
 * Runs a question to Postgres and turns "can't be reached" and "does not answer" into the caller's 503.
 * @param deadlineMs how long its asker waits
 * @throws Problem `unavailable`
 */
export async function queryPostgres<Rows>(question: PromiseLike<Rows>, deadlineMs = queryTimeoutMs): Promise<Rows> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), deadlineMs)
  })
  try {
    return await Promise.race([question, late])
  } catch (error) {
    throw isPostgresUnreachable(error) ? unavailable() : error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs a query that ends with a signal. A server is told to cancel it; the embedded engine, which can't, finishes it.
 * @throws Problem `unavailable`; `query_timeout` when the server or an operator ended it; or the signal's reason
 */
export async function queryUntilAborted<Rows extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<Rows>,
  signal: AbortSignal,
): Promise<Rows> {
  signal.throwIfAborted()
  let cancel: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    cancel = () => {
      query.cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', cancel)
  })
  try {
    return await Promise.race([query, aborted])
  } catch (error) {
    if (isPostgresUnreachable(error)) throw unavailable()
    if ((error as { code?: unknown }).code !== queryCanceled) throw error
    throw new Problem('query_timeout', 'The database ended the query; try again.', { retryAfterS: 5 })
  } finally {
    if (cancel) signal.removeEventListener('abort', cancel)
  }
}

/** The SQLSTATE of a statement that was cancelled or ran out of the server's `statement_timeout`. */
const queryCanceled = '57014'

function unavailable(): Problem {
  return new Problem('unavailable', 'A store is not reachable at the moment; try again.', { retryAfterS: 2 })
}

/** Whether an error says that Postgres could not be asked, rather than that the question was wrong. */
export function isPostgresUnreachable(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && unreachable.test(code)
}

/** Whether an error is an answer of the server: it was reached, is up, and did not do what it was asked. */
export function isPostgresRejection(error: unknown): boolean {
  return error instanceof postgres.PostgresError && !isPostgresUnreachable(error)
}
