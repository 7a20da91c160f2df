import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouseSettings } from '@clickhouse/client'
import { type ClickHouse, whileItWorks } from '../stores/clickhouse.ts'
import { type Fragment, render } from './fragment.ts'
import { asProblem } from './rows.ts'

/**
 * What every write asks for: one block, whatever its size and however many months it touches, so that in each partition
 * it is all of it or nothing.
 */
const writeSettings: ClickHouseSettings = {
  async_insert: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  max_partitions_per_insert_block: '0',
  max_insert_block_size: '1000000000',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '1000000000000',
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  ...whileItWorks,
}

/** Rows on their way into a table. */
export interface Insertion {
  table: string
  /** In the order of the bytes; columns that are not named get their defaults. */
  columns: readonly string[]
  /** Rows in ClickHouse's RowBinary format. */
  bytes: Buffer
  /** Query id and deduplication token: bytes sent again with the same token change nothing, here and in every view. */
  token: string
  /**
   * No two rows have one key, so that neither they nor what views make of them, which is grouped, need to be collapsed:
   * ClickHouse does that to every block of every table, which costs more than writing it.
   */
  isDistinct?: boolean
  /** Stops waiting for the answer; the rows may be stored all the same. */
  signal?: AbortSignal
}

/**
 * Inserts rows as one block, once however often it is called with the same token.
 * @throws Problem `unavailable` when they may or may not have been stored: send them again
 */
export async function insertRows(clickhouse: ClickHouse, insertion: Insertion): Promise<void> {
  const { table, columns, bytes, token, isDistinct, signal } = insertion
  const label = `insert.${table}`
  const startedMs = performance.now()
  try {
    const answer = await clickhouse.client.exec({
      query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`,
      values: Readable.from([bytes], { objectMode: false }),
      query_id: token,
      clickhouse_settings: {
        ...writeSettings,
        log_comment: label,
        insert_deduplication_token: token,
        ...(isDistinct && { optimize_on_insert: 0 }),
      },
      ...(signal && { abort_signal: signal }),
    })
    for await (const _ of answer.stream);
  } catch (error) {
    throw asProblem(error)
  } finally {
    clickhouse.onQuery?.(label, (performance.now() - startedMs) / 1000)
  }
}

/**
 * Runs an INSERT … SELECT.
 * @param label names it in ClickHouse's own logs
 * @param queryId where others must be able to end it
 * @throws Problem `unavailable` when its outcome is not known
 */
export async function runStatement(
  clickhouse: ClickHouse,
  statement: Fragment,
  label: string,
  queryId?: string,
): Promise<void> {
  await run(clickhouse.client, statement, label, queryId)
}

/**
 * Runs a statement wherever rows or queries lie: DELETE, KILL QUERY. Each node of a cluster does it to its own tables, which
 * hold a row together with all that is made of it; a single server has them all.
 * @param label names it in ClickHouse's own logs
 * @throws Problem `unavailable` when its outcome is not known
 */
export async function runOnEveryNode(
  { client, cluster }: ClickHouse,
  statement: Fragment,
  label: string,
): Promise<void> {
  const clients = cluster ? cluster.nodes.map((node) => node.client) : [client]
  for (const one of clients) await run(one, statement, label)
}

/** TRAP: without a token, an INSERT … SELECT may be dropped for being equal to an earlier one, so each gets its own. */
async function run(
  client: ClickHouse['client'],
  statement: Fragment,
  label: string,
  token: string = randomUUID(),
): Promise<void> {
  const { text, params } = render(statement)
  try {
    await client.command({
      query: text,
      query_params: params,
      query_id: token,
      use_multipart_params_auto: true,
      clickhouse_settings: { ...writeSettings, log_comment: label, insert_deduplication_token: token },
    })
  } catch (error) {
    throw asProblem(error)
  }
}
