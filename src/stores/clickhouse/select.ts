import type { IncomingMessage } from 'node:http'
import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { DiskFull, Problem } from '../../problem.ts'
import type { Client } from './client.ts'
import { damagedDataOf } from './damagedData.ts'
import { untilException } from './exceptionTail.ts'
import { type ReadRequest, readJsonRows } from './sendSelect.ts'
import { ch, type Fragment, render } from './sql.ts'

/** Where a query runs, and what is called after it, also when it has failed. */
export interface QueryTarget {
  readonly reader: Client
  readonly onQuery?: ((label: string, seconds: number) => void) | undefined
}

export interface QueryOptions {
  /** Names the query in ClickHouse's logs and in metrics: `reports`, `clicks.page`. */
  label: string
  /** Cancels the query on the server. The error is discarded when the client has disconnected. */
  signal?: AbortSignal
  settings?: ClickHouseSettings
  /** About where the result ends, after at least one row; `isCut`: rows may follow it. */
  bytesMax?: number
  /** One that `readJsonRows` reads; by default JSONEachRow. */
  format?: Fragment
}

/** Server-side limit of a read, below the client's timeout, so that the server's error comes first. */
const queryTimeoutS = 20

/** Share of a query's memory limit from which it continues on disk. Eight reads fit: a group that is moved takes twice its memory. */
const diskRatio = 0.125

/**
 * Settings of every read. Decimals are strings: JSON numbers would round them.
 * TRAP: `readonly = 2` is what makes ClickHouse cancel the query when the connection closes.
 */
const readSettings: ClickHouseSettings = {
  readonly: '2',
  max_execution_time: queryTimeoutS,
  timeout_before_checking_execution_speed: 0,
  max_bytes_ratio_before_external_group_by: diskRatio,
  max_bytes_ratio_before_external_sort: diskRatio,
  cancel_http_readonly_queries_on_client_close: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  // Results that are parsed here are small: threads that format them cost more than they save.
  output_format_parallel_formatting: 0,
  // TRAP: a server with `compatibility` below 25.11 would write an error as a row.
  http_write_exception_in_output_format: 0,
}

/** For FINAL over some days or some keys: one thread costs less than splitting ten thousand rows among threads. */
export const smallFinal: ClickHouseSettings = { split_intersecting_parts_ranges_into_layers_final: 0 }

/**
 * For short reads without projections that return most rows they read: threads, compiled expressions, a second read of columns and the
 * search for projections cost more than they save.
 */
export const smallRead: ClickHouseSettings = {
  max_threads: 1,
  query_plan_optimize_lazy_materialization: 0,
  optimize_use_projections: 0,
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
}

/** For reads of any number of rows: the kernel prefers other threads. Without the capability CAP_SYS_NICE ClickHouse ignores it. */
export const longRead: ClickHouseSettings = { os_thread_priority: '10' }

/**
 * Runs a SELECT and returns its rows.
 * @throws Problem `query_timeout`, or `unavailable` when ClickHouse is unreachable or has too little memory for it
 */
export async function selectRows<Row>(clickhouse: QueryTarget, query: Fragment, options: QueryOptions): Promise<Row[]> {
  return (await selectFirstRows<Row>(clickhouse, query, options)).rows
}

/** Runs a SELECT of rows that may be long, as `selectRows`. @returns its first rows; `isCut`: rows may follow them */
export async function selectFirstRows<Row>(clickhouse: QueryTarget, query: Fragment, options: QueryOptions) {
  const { bytesMax, format = ch`JSONEachRow` } = options
  const startedMs = performance.now()
  try {
    const response = await clickhouse.reader.read(readOf(ch`${query}\nFORMAT ${format}`, options))
    return await readJsonRows<Row>(response, bytesMax)
  } catch (error) {
    if (options.signal?.aborted) throw abortError(options.signal)
    throw asProblem(error, readAdvice)
  } finally {
    clickhouse.onQuery?.(options.label, (performance.now() - startedMs) / 1000)
  }
}

/** A line of a result in the format JSONEachRowWithProgress: one of these, or what the result is made of. */
type GroupsLine<Row> = { row?: Row; totals?: Row; rows_before_limit_at_least?: number }

/**
 * Runs a SELECT … GROUP BY … WITH TOTALS … LIMIT.
 * @returns the rows up to the LIMIT, and totals and group count over all of them
 * @throws Problem like `selectRows`
 */
export async function selectGroups<Row>(clickhouse: QueryTarget, query: Fragment, options: QueryOptions) {
  const format = ch`JSONEachRowWithProgress`
  // TRAP: progress would begin the response, and a server that then stops responding is noticed late. A buffer holds progress back.
  const settings = { exact_rows_before_limit: 1, http_response_buffer_size: '1048576', ...options.settings } as const
  const { rows: lines } = await selectFirstRows<GroupsLine<Row>>(clickhouse, query, { ...options, settings, format })
  const rows = lines.flatMap(({ row }) => row ?? [])
  const rest: GroupsLine<Row> = Object.assign({}, ...lines.filter(({ row }) => !row))
  // Without a LIMIT there is no number of groups before it.
  return { rows, totals: rest.totals as Row, groupCount: rest.rows_before_limit_at_least ?? rows.length }
}

/** A streamed result takes as long as its reader, and has any number of rows. */
const streamSettings: ClickHouseSettings = { max_execution_time: 0, output_format_parallel_formatting: 1, ...longRead }

/** Longest pause of ClickHouse within a streamed result. */
const streamIdleMs = 60_000

/**
 * Streams the result of a SELECT while the server computes it, in constant memory here; a sort in ClickHouse needs all rows.
 * @param query ends with `FORMAT …`
 * @throws Problem like `selectRows`, also in the middle; the result is then incomplete
 */
export async function* streamBytes(clickhouse: QueryTarget, query: Fragment, options: QueryOptions) {
  const startedMs = performance.now()
  try {
    const response = await clickhouse.reader.read(readOf(query, options, streamSettings))
    yield* untilException(withIdleTimeout(response), response)
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    throw asProblem(error, readAdvice)
  } finally {
    clickhouse.onQuery?.(options.label, (performance.now() - startedMs) / 1000)
  }
}

/** Yields the body of a response. Its timeout runs only while waiting for the server, not while the reader pauses. */
async function* withIdleTimeout(response: IncomingMessage): AsyncGenerator<Buffer> {
  const setTimeoutMs = (ms: number) => {
    // TRAP: the connection of a complete response may belong to another request already.
    if (!response.complete) response.socket.setTimeout(ms)
  }
  setTimeoutMs(streamIdleMs)
  for await (const chunk of response) {
    setTimeoutMs(0)
    yield chunk as Buffer
    setTimeoutMs(streamIdleMs)
  }
}

/** The error of an aborted query: the signal's own reason, else the client has disconnected. */
function abortError({ reason }: AbortSignal): unknown {
  return reason instanceof DOMException ? new Problem('unavailable', 'The client disconnected.') : reason
}

/** @param more settings beside `readSettings` */
function readOf(query: Fragment, { label, signal, settings }: QueryOptions, more?: ClickHouseSettings): ReadRequest {
  return {
    statement: render(query),
    settings: { ...readSettings, ...more, log_comment: label, ...settings },
    signal,
  }
}

/** ClickHouse's codes for a query that exceeded its time limit. */
const timeoutCodes = new Set(['159', '160'])

/** Memory: the query exceeded its own limit, or the server has no more. Only the message says which. */
const memoryCode = '241'
const readAdvice = 'request a shorter range, add filters, or try again later'

/**
 * Codes of temporary failures: too many queries, starting or stopping, the same query id still running, killed by an
 * operator, a mutation stopped by another statement; in a cluster an unreachable node, too few replicas, replicas that all have rows
 * yet to fetch, no Keeper, a session with Keeper that ended during an insert (244).
 */
const busyCodes = new Set(
  '32 202 209 210 216 225 236 242 244 252 254 279 285 286 319 341 369 384 394 667 999'.split(' '),
)

/** Codes of failures to write to the disk: no space that can be reserved (243), a failed `write` (75). */
const diskCodes = new Set(['75', '243'])
/** Without a free inode, ClickHouse sends the code of any failure of a file system, which the driver does not read. */
const noSpace = /No space left on device|Disk quota exceeded/

/**
 * Converts a driver's error to Problem `query_timeout` or `unavailable`, or to DamagedData; returns any other error unchanged.
 * @param memoryAdvice what the caller can do about a query that needs too much memory
 */
export function asProblem(error: unknown, memoryAdvice = 'try again'): unknown {
  if (error instanceof Error && noSpace.test(error.message)) return new DiskFull('ClickHouse', error)
  if (error instanceof ClickHouseError) {
    const damaged = damagedDataOf(error)
    if (damaged) return damaged
    if (timeoutCodes.has(error.code)) {
      const message = 'The query exceeded its time limit; request a shorter range.'
      return new Problem('query_timeout', message, { retryAfterS: 5 })
    }
    if (error.code === memoryCode) {
      const message = `The query needs more memory than the database has for it; ${memoryAdvice}.`
      return new Problem('unavailable', message, { retryAfterS: 5 })
    }
    if (busyCodes.has(error.code)) return clickhouseUnavailable()
    return diskCodes.has(error.code) ? new DiskFull('ClickHouse', error) : error
  }
  return isConnectionError(error) ? clickhouseUnavailable() : error
}

function clickhouseUnavailable(): Problem {
  return new Problem('unavailable', 'ClickHouse is not reachable at the moment; try again.', { retryAfterS: 2 })
}

/** The client's timeout and an early close have no system code. ENOENT: the socket of an embedded engine that restarts. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code
  if (code && /^E(CONN|NOENT|PIPE|HOST|NET|AI_|TIMEDOUT)/.test(code)) return true
  return /^(Timeout error\.|socket hang up|aborted)/.test(error.message)
}
