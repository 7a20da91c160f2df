import type { IncomingMessage } from 'node:http'
import { ClickHouseError, type ClickHouseSettings, parseError, TupleParam } from '@clickhouse/client'
import { Problem } from '../../problem.ts'
import { type ClickHouse, keepAliveSettings } from './connection.ts'
import { untilException } from './exceptionTail.ts'
import { type Fragment, render, type Statement } from './sql.ts'

/** Who is asked: usually the one ClickHouse of this process. */
export type QueryTarget = Pick<ClickHouse, 'reader' | 'onQuery'>

/** How one question is asked. */
export interface QueryOptions {
  /** Names the question in ClickHouse's own logs and in metrics: `reports`, `clicks.page`. */
  label: string
  /** Ends the query on the server when the caller hangs up; what is thrown then is for nobody. */
  signal?: AbortSignal
  settings?: ClickHouseSettings
}

/** Answer rows with the totals line that `WITH TOTALS` adds, and how many groups there were before LIMIT. */
export interface GroupedRows<Row> {
  rows: Row[]
  totals: Row
  rowsBeforeLimit: number
}

/** Server-side limit of a read, below the client's own timeout, so that the server always gives up first. */
const queryTimeoutS = 20

/**
 * What every read asks for. Decimals come as strings: a JSON number would round them before we can.
 * TRAP: `readonly = 2` is what makes ClickHouse cancel the query when the connection closes.
 */
const readSettings: ClickHouseSettings = {
  readonly: '2',
  max_execution_time: queryTimeoutS,
  timeout_before_checking_execution_speed: 0,
  cancel_http_readonly_queries_on_client_close: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
}

/** For questions over a whole month or account that no caller waits for. */
export const batchTimeout: Pick<QueryOptions, 'settings'> = {
  settings: { max_execution_time: 600, ...keepAliveSettings },
}

/**
 * For FINAL over no more than some ten thousand rows: one thread collapses them. To split them among threads costs more
 * than it gains there, and is what ClickHouse does: a page of 50 scattered conversions took 31 ms of CPU, 24 without.
 */
export const smallFinal: ClickHouseSettings = { split_intersecting_parts_ranges_into_layers_final: 0 }

/**
 * Runs a SELECT and returns its rows.
 * @throws Problem `query_timeout` when it ran out of its time, `unavailable` when ClickHouse can't be reached
 */
export async function selectRows<Row>(clickhouse: QueryTarget, query: Fragment, asking: QueryOptions): Promise<Row[]> {
  const answer = await runQuery<{ data: Row[] }>(clickhouse, query, asking)
  return answer.data
}

/**
 * Runs a SELECT … GROUP BY … WITH TOTALS … LIMIT.
 * @returns the rows up to the LIMIT, and totals and group count over all of them
 * @throws Problem like `selectRows`
 */
export async function selectGroups<Row>(
  clickhouse: ClickHouse,
  query: Fragment,
  asking: QueryOptions,
): Promise<GroupedRows<Row>> {
  const answer = await runQuery<{ data: Row[]; totals: Row; rows_before_limit_at_least?: number }>(clickhouse, query, {
    ...asking,
    settings: { exact_rows_before_limit: 1, ...asking.settings },
  })
  return {
    rows: answer.data,
    totals: answer.totals,
    rowsBeforeLimit: answer.rows_before_limit_at_least ?? answer.data.length,
  }
}

/**
 * Runs a SELECT and hands on its answer in a format of ClickHouse's own, as it arrives. The server finishes before it
 * sends the first byte: what arrives is all there is, and never an error's text.
 * @param query ends with `FORMAT …`
 * @throws Problem like `selectRows`
 */
export async function* selectBytes(
  clickhouse: ClickHouse,
  query: Fragment,
  asking: QueryOptions,
): AsyncGenerator<Buffer> {
  const { text, params } = render(query)
  const startedMs = performance.now()
  try {
    const answer = await clickhouse.reader.exec({
      query: text,
      query_params: driverParams(params),
      clickhouse_settings: { ...readSettings, wait_end_of_query: 1, log_comment: asking.label, ...asking.settings },
      use_multipart_params_auto: true,
      ...(asking.signal && { abort_signal: asking.signal }),
    })
    for await (const chunk of answer.stream) yield chunk as Buffer
  } catch (error) {
    throw asProblem(error)
  } finally {
    clickhouse.onQuery?.(asking.label, (performance.now() - startedMs) / 1000)
  }
}

/** An answer of any length takes as long as its reader does. */
const streamSettings: ClickHouseSettings = { max_execution_time: 0 }

/** Longest silence of ClickHouse within such an answer. */
const streamSilenceMs = 60_000

/**
 * Runs a SELECT and hands on its answer in a format of ClickHouse's own while the server still works on it: memory stays
 * constant, here and there, however long the answer is and however slowly it is read.
 * @param query ends with `FORMAT …`
 * @throws Problem like `selectRows`, also in the middle; what came before is then not the whole answer
 */
export async function* streamBytes(
  clickhouse: ClickHouse,
  query: Fragment,
  asking: QueryOptions,
): AsyncGenerator<Buffer> {
  const { text, params } = render(query)
  const startedMs = performance.now()
  try {
    const answer = await clickhouse.reader.exec({
      query: text,
      query_params: driverParams(params),
      clickhouse_settings: { ...readSettings, ...streamSettings, log_comment: asking.label, ...asking.settings },
      use_multipart_params_auto: true,
      ...(asking.signal && { abort_signal: asking.signal }),
    })
    const tag = String(answer.response_headers['x-clickhouse-exception-tag'] ?? '')
    const chunks = timed(answer.stream as IncomingMessage, asking.signal)
    yield* untilException(chunks, tag, (words) => parseError(words.trim()))
  } catch (error) {
    if (asking.signal?.aborted) throw asking.signal.reason
    throw asProblem(error)
  } finally {
    clickhouse.onQuery?.(asking.label, (performance.now() - startedMs) / 1000)
  }
}

/**
 * TRAP: the driver's time limit counts the reader's pauses as silence of the server; ours runs only while we wait. Nor
 * does the driver heed the signal once an answer has begun.
 */
async function* timed(stream: IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const { socket } = stream
  const stop = () => stream.destroy(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop)
  try {
    socket.setTimeout(streamSilenceMs)
    for await (const chunk of stream) {
      socket.setTimeout(0)
      yield chunk as Buffer
      socket.setTimeout(streamSilenceMs)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function runQuery<Answer>(clickhouse: QueryTarget, query: Fragment, asking: QueryOptions): Promise<Answer> {
  const { text, params } = render(query)
  const startedMs = performance.now()
  try {
    const result = await clickhouse.reader.query({
      query: text,
      query_params: driverParams(params),
      format: 'JSON',
      clickhouse_settings: { ...readSettings, log_comment: asking.label, ...asking.settings },
      use_multipart_params_auto: true,
      ...(asking.signal && { abort_signal: asking.signal }),
    })
    return (await result.json<never>()) as Answer
  } catch (error) {
    if (asking.signal?.aborted) throw endOf(asking.signal)
    throw asProblem(error)
  } finally {
    clickhouse.onQuery?.(asking.label, (performance.now() - startedMs) / 1000)
  }
}

/** What ended a question: the reason that was given, else its caller has left. */
function endOf({ reason }: AbortSignal): unknown {
  return reason instanceof DOMException ? new Problem('unavailable', 'The caller hung up.') : reason
}

/** TRAP: the driver writes an array inside an array as an array; a tuple has to say that it is one. */
function driverParams(params: Statement['params']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((item) => (Array.isArray(item) ? new TupleParam(item) : item)) : value,
    ]),
  )
}

/** ClickHouse's own codes for a query that ran out of its time. */
const timeoutCodes = new Set(['159', '160'])

/**
 * Codes that say "not now": too many queries, memory of the server full, starting or stopping, the same id still running,
 * killed by an operator; in a cluster a node that can't be reached or breaks off, too few replicas, no Keeper.
 */
const busyCodes = new Set(
  ['202', '209', '210', '216', '236', '241', '242', '252', '394'].concat(['32', '279', '285', '286', '319', '999']),
)

/**
 * Turns a driver's error into the caller's: a query that ran out of time, a store that can't answer now, or,
 * unchanged, a bug of ours.
 */
export function asProblem(error: unknown): unknown {
  if (error instanceof ClickHouseError) {
    if (timeoutCodes.has(error.code)) {
      return new Problem('query_timeout', 'The query ran out of its time; ask for a shorter range.', { retryAfterS: 5 })
    }
    if (busyCodes.has(error.code)) return unavailable()
    return error
  }
  return isConnectionError(error) ? unavailable() : error
}

function unavailable(): Problem {
  return new Problem('unavailable', 'A store is not reachable at the moment; try again.', { retryAfterS: 2 })
}

/**
 * Socket errors carry a system code; the client's own timeout and a connection cut half-way do not. ENOENT: the Unix
 * socket of an embedded engine that is starting again is gone.
 */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code
  if (code && /^(E(CONN|NOENT|PIPE|HOST|NET|AI_|TIMEDOUT)|UND_ERR)/.test(code)) return true
  return /^(Timeout error\.|socket hang up|aborted)/.test(error.message)
}
