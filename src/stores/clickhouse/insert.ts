import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import { Problem } from '../../problem.ts'
import { type Client, execute, keepAliveSettings } from './client.ts'
import { formOf } from './form.ts'
import { asProblem, type QueryTarget } from './select.ts'
import { ch, type Fragment, identifier, instant, join, render, text } from './sql.ts'

/** Every write is one block: a partition stores all of it or nothing. */
const writeSettings: ClickHouseSettings = {
  async_insert: 0,
  max_partitions_per_insert_block: '0',
  max_insert_block_size: '1000000000',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '1000000000000',
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  // ClickHouse evaluates `now64` of a mutation once, when it receives it, as `matchNothingAfter` needs.
  mutations_execute_nondeterministic_on_initiator: 1,
  ...keepAliveSettings,
}

/** Bounds of a write under an account's lease: it may not begin after another writer has begun to write. */
export interface WriteBounds {
  /** Other processes end the statement by it. */
  queryId: string
  /** ClickHouse rejects the statement from this moment on, epoch milliseconds by its own clock. */
  deadlineMs: number
}

export interface Insertion {
  table: string
  /** In the order of the bytes, with the types that the bytes have; columns that are not named get their defaults. */
  columns: readonly { readonly name: string; readonly type: string }[]
  bytes: Buffer
  /** Whether all keys differ: then ClickHouse collapses neither the rows nor the rows of views, which costs more than writing. */
  isDistinct?: boolean
  /** Whether the first merge builds the skip indexes. For small inserts: reading a part without them costs less. */
  areIndexesDeferred?: boolean
  /** Stops waiting for the response; the rows may still be stored. */
  signal?: AbortSignal
}

/** ClickHouse did not begin a statement: it arrived after its deadline, or the connection was refused. Nothing was written. */
export class NotBegun extends Problem {
  constructor() {
    super('unavailable', 'ClickHouse is not reachable at the moment; try again.', { retryAfterS: 2 })
  }
}

/**
 * Inserts rows as one block. Sent again, the rows are stored again.
 * @param bounds of the account's writer; the deadline is compared once the rows have arrived
 * @throws NotBegun when nothing was stored, Problem `unavailable` when the rows may or may not have been
 */
export async function insertRows(
  clickhouse: { readonly client: Client } & Pick<QueryTarget, 'onQuery'>,
  insertion: Insertion,
  bounds?: WriteBounds,
): Promise<void> {
  const { table, bytes, isDistinct, areIndexesDeferred, signal } = insertion
  const label = `insert.${table}`
  const startedMs = performance.now()
  try {
    await runStatement(clickhouse.client, insertSql(insertion, bounds), label, {
      queryId: bounds?.queryId,
      values: Readable.from([bytes], { objectMode: false }),
      settings: {
        ...(isDistinct && { optimize_on_insert: 0 }),
        ...(areIndexesDeferred && { materialize_skip_indexes_on_insert: 0 }),
      },
      signal,
    })
  } finally {
    clickhouse.onQuery?.(label, (performance.now() - startedMs) / 1000)
  }
}

function insertSql({ table, columns }: Insertion, bounds: WriteBounds | undefined): Fragment {
  const names = join(columns.map(({ name }) => identifier(name)))
  if (!bounds) return ch`INSERT INTO ${identifier(table)} (${names}) FORMAT RowBinary`
  const structure = columns.map(({ name, type }) => `${name} ${type}`).join(', ')
  // TRAP: `now64` is the time at which the request began; `nowInBlock64` is computed for the block.
  return ch`INSERT INTO ${identifier(table)} (${names})
SELECT ${names}
FROM input(${text(structure)})
WHERE NOT throwIf(nowInBlock64(3) >= ${instant(bounds.deadlineMs)})
FORMAT RowBinary`
}

/**
 * A condition for the WHERE of an INSERT … SELECT: a statement that ClickHouse begins after the deadline fails, as NotBegun.
 * `now64` is computed after the statement has been registered, so after the deadline `killQueries` finds all statements.
 */
export const failAfter = (deadlineMs: number): Fragment => ch`NOT throwIf(now64(3) >= ${instant(deadlineMs)})`

/** For a mutation: after the deadline it changes nothing. ClickHouse would retry a mutation that fails for ever. */
export const matchNothingAfter = (deadlineMs: number): Fragment => ch`now64(3) < ${instant(deadlineMs)}`

interface StatementOptions {
  /** For statements that other processes may end. */
  queryId?: string | undefined
  /** Rows of its `input`. They take the body, so its parameters are in the URL and must be short. */
  values?: Readable | undefined
  settings?: ClickHouseSettings
  signal?: AbortSignal | undefined
}

/** Runs a statement that writes. @throws NotBegun when nothing was written, Problem `unavailable` when its outcome is not known */
export async function runStatement(
  client: Client,
  statement: Fragment,
  label: string,
  { queryId = randomUUID(), values, settings, signal }: StatementOptions = {},
): Promise<void> {
  const rendered = render(statement)
  const form = values ? undefined : formOf(rendered)
  try {
    await execute(client, {
      ...(form
        ? { query: Buffer.concat([...form.parts, form.last]).toString(), http_headers: form.headers }
        : { query: rendered.text, query_params: rendered.params, values }),
      query_id: queryId,
      clickhouse_settings: { ...writeSettings, log_comment: label, ...settings },
      ...(signal && { abort_signal: signal }),
    })
  } catch (error) {
    throw asWriteProblem(error)
  }
}

function asWriteProblem(error: unknown): unknown {
  // In writes only deadlines use `throwIf`.
  const isTooLate = error instanceof ClickHouseError && error.type === 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'
  const hasNotBegun = isTooLate || (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  return hasNotBegun ? new NotBegun() : asProblem(error)
}
