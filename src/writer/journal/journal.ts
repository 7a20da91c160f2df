import { queryPostgres } from '../../stores/postgres/connection.ts'
import { LeaseLost } from '../../stores/postgres/lease.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../lease/writer.ts'
import type { AccountTask } from './accountTasks.ts'
import type { MonthlyRows } from './months.ts'

/** A batch that may have been sent: its token and the time range of its rows. */
export interface JournalEntry {
  /** Unique identifier of the batch. */
  token: string
  resource: 'clicks' | 'conversions'
  /** Earliest clicked_at or converted_at in it, epoch milliseconds. */
  firstMs: number
  /** Latest clicked_at or converted_at in it, epoch milliseconds. */
  lastMs: number
  /** Rows that it adds to the counts of stored rows once it is confirmed. */
  added: readonly MonthlyRows[]
}

/**
 * Records a batch before it is sent, only if this writer still holds the account's lease. New clicks may allow earlier
 * conversions to be attributed, so the same statement records that task.
 * The statement locks the lease's row, so that the next holder of the lease sees the record.
 * @returns `stored_at` of its rows, epoch milliseconds: later than that of the account's earlier batches
 * @throws LeaseLost
 */
export async function recordBatch(writer: Writer, batch: JournalEntry): Promise<number> {
  const { postgres } = writer.stores
  const { name, fencingToken: fence } = writer.lease
  const [recorded] = await retryWhileUnavailable(
    'recording a batch in the journal',
    async () => {
      await writer.lease.assertHeld()
      return await queryPostgres(postgres<{ storedAt: Date }[]>`
        WITH held AS (
          SELECT 1 FROM leases
          WHERE name = ${name} AND fence = ${fence.toString()}::bigint
          FOR SHARE),
        tasks AS (
          INSERT INTO account_tasks (account_id, task)
          SELECT ${writer.accountId}::text, ${'attribute_late_clicks' satisfies AccountTask}::text
          FROM held
          WHERE ${batch.resource}::text = 'clicks'
          ON CONFLICT DO NOTHING)
        INSERT INTO import_batches (token, account_id, resource, first_at, last_at, months, added)
        SELECT ${batch.token}::text, ${writer.accountId}::text, ${batch.resource}::text,
          ${new Date(batch.firstMs).toISOString()}::timestamptz, ${new Date(batch.lastMs).toISOString()}::timestamptz,
          ${batch.added.map(({ month }) => month)}::date[], ${batch.added.map(({ rows }) => rows)}::integer[]
        FROM held
        ON CONFLICT (token) DO UPDATE SET token = excluded.token
        RETURNING stored_at AS "storedAt"`)
    },
    writer,
  )
  if (!recorded) throw new LeaseLost()
  return recorded.storedAt.getTime()
}

/**
 * Clears batches that ClickHouse confirmed, and adds their rows to the counts of stored rows, in one statement. Idempotent.
 */
export async function clearBatches(writer: Writer, tokens: readonly string[]): Promise<void> {
  const { postgres } = writer.stores
  await retryWhileUnavailable(
    'clearing a batch from the journal',
    () =>
      queryPostgres(postgres`
        WITH cleared AS (
          DELETE FROM import_batches WHERE token = ANY(${tokens as string[]}::text[])
          RETURNING account_id, resource, months, added)
        INSERT INTO stored_rows (account_id, resource, month, rows)
        SELECT account_id, resource, month, sum(rows)
        FROM cleared, unnest(months, added) AS counted (month, rows)
        GROUP BY account_id, resource, month
        ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = stored_rows.rows + excluded.rows`),
    // Not the writer's own signal: an interrupted writer still clears the batches that it stored.
    { onMessage: writer.onMessage, signal: writer.lease.lost },
  )
}

/**
 * Clears batches of unknown outcome after their days were rebuilt: each may be stored or not. The counts of stored rows are
 * set to the rows in ClickHouse, but change by no more than these batches explain, so that `verify` still reports the loss
 * of rows confirmed earlier. One statement; idempotent.
 * @param counted the rows that ClickHouse has in every month of the batches
 */
export async function settleBatches(
  writer: Writer,
  tokens: readonly string[],
  counted: readonly (MonthlyRows & Pick<JournalEntry, 'resource'>)[],
): Promise<void> {
  const { postgres } = writer.stores
  await retryWhileUnavailable(
    'clearing repaired batches from the journal',
    () =>
      queryPostgres(postgres`
        WITH cleared AS (
          DELETE FROM import_batches WHERE token = ANY(${tokens as string[]}::text[])
          RETURNING account_id, resource, months, added),
        bounds AS (
          SELECT account_id, resource, month, sum(least(rows, 0)) AS lowest, sum(greatest(rows, 0)) AS highest
          FROM cleared, unnest(months, added) AS counted (month, rows)
          GROUP BY account_id, resource, month),
        counted AS (
          SELECT * FROM unnest(
            ${counted.map(({ resource }) => resource)}::text[],
            ${counted.map(({ month }) => month)}::date[],
            ${counted.map(({ rows }) => rows)}::bigint[]) AS counted (resource, month, rows))
        INSERT INTO stored_rows (account_id, resource, month, rows)
        SELECT account_id, resource, month,
          least(
            greatest(coalesce(counted.rows, 0), coalesce(stored_rows.rows, 0) + lowest),
            coalesce(stored_rows.rows, 0) + highest)
        FROM bounds
        LEFT JOIN counted USING (resource, month)
        LEFT JOIN stored_rows USING (account_id, resource, month)
        ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = excluded.rows`),
    writer,
  )
}

/** @returns the account's batches that were not cleared; their days must be rebuilt */
export async function readLeftovers(writer: Writer): Promise<JournalEntry[]> {
  const { postgres } = writer.stores
  const rows = await retryWhileUnavailable(
    'reading the journal',
    () =>
      queryPostgres(postgres<JournalRow[]>`
        SELECT token, resource, first_at, last_at, months::text[] AS months, added
        FROM import_batches
        WHERE account_id = ${writer.accountId}
        ORDER BY created_at, token`),
    writer,
  )
  return rows.map(({ token, resource, first_at, last_at, months, added }) => ({
    token,
    resource,
    added: months.map((month, index) => ({ month, rows: added[index] ?? 0 })),
    firstMs: first_at.getTime(),
    lastMs: last_at.getTime(),
  }))
}

interface JournalRow {
  token: string
  resource: JournalEntry['resource']
  first_at: Date
  last_at: Date
  months: string[]
  added: number[]
}
