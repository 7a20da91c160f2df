import type { Writer } from '../fence/writer.ts'
import type { AccountTask } from './accountTasks.ts'
import type { Extent, MonthlyRows } from './months.ts'

/**
 * An entry of the journal: the next writer rebuilds its days, and until it is cleared the watermark does not pass its `stored_at`.
 * It is a batch that may have been sent, the days of a repair, or an erasure (the day 1970-01-01, without rows).
 */
export interface JournalEntry extends Extent {
  token: string
  resource: 'clicks' | 'conversions'
}

/**
 * Records a batch before it is sent, and the task of attributing earlier conversions to its clicks.
 * @returns `stored_at` of its rows, epoch milliseconds: later than in the account's earlier batches
 */
export async function recordBatch(writer: Writer, batch: JournalEntry): Promise<number> {
  const { accountId } = writer
  const { token, resource, firstMs, lastMs, added } = batch
  const result = writer.stores.postgres<{ storedAt: Date }[]>`SELECT stored_at AS "storedAt" FROM recorded`
  const [recorded] = await writer.change('recording a batch in the journal', result)`
    tasks AS (
      INSERT INTO account_tasks (account_id, task)
      SELECT ${accountId}::text, ${'attribute_late_clicks' satisfies AccountTask}::text
      FROM held
      WHERE ${resource}::text = 'clicks'
      ON CONFLICT DO NOTHING),
    recorded AS (
      INSERT INTO import_batches (token, account_id, resource, first_at, last_at, months, added)
      SELECT ${token}::text, ${accountId}::text, ${resource}::text,
        ${new Date(firstMs).toISOString()}::timestamptz, ${new Date(lastMs).toISOString()}::timestamptz,
        ${added.map(({ month }) => month)}::date[], ${added.map(({ rows }) => rows)}::integer[]
      FROM held
      ON CONFLICT (token) DO UPDATE SET token = excluded.token
      RETURNING stored_at)`
  return recorded?.storedAt.getTime() ?? 0
}

/** Clears batches that ClickHouse confirmed, and adds their rows to the counts of confirmed rows (`stored_rows`), in one statement. Idempotent. */
export async function clearBatches(writer: Writer, tokens: readonly string[]): Promise<void> {
  // Not the writer's own signal: an interrupted writer still clears the batches that it stored.
  await writer.change('clearing a batch from the journal', undefined, writer.lease.lost)`
    cleared AS (
      DELETE FROM import_batches USING held WHERE token = ANY(${tokens as string[]}::text[])
      RETURNING account_id, resource, months, added),
    added AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT account_id, resource, month, sum(rows)
      FROM cleared, unnest(months, added) AS counted (month, rows)
      GROUP BY account_id, resource, month
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = stored_rows.rows + excluded.rows)`
}

/**
 * Clears batches of unknown outcome after their days were rebuilt. The counts of confirmed rows become the rows in ClickHouse, but
 * change by no more than these batches explain: `verify` still reports a loss of earlier rows. One statement; idempotent.
 * @param counted the rows that ClickHouse has in every month of the batches
 */
export async function settleBatches(
  writer: Writer,
  tokens: readonly string[],
  counted: readonly (MonthlyRows & Pick<JournalEntry, 'resource'>)[],
): Promise<void> {
  await writer.change('clearing repaired batches from the journal')`
    cleared AS (
      DELETE FROM import_batches USING held WHERE token = ANY(${tokens as string[]}::text[])
      RETURNING account_id, resource, months, added),
    bounds AS (
      SELECT account_id, resource, month, sum(least(rows, 0)) AS lowest, sum(greatest(rows, 0)) AS highest
      FROM cleared, unnest(months, added) AS counted (month, rows)
      GROUP BY account_id, resource, month),
    counted AS (
      SELECT * FROM unnest(
        ${counted.map(({ resource }) => resource)}::text[],
        ${counted.map(({ month }) => month)}::date[],
        ${counted.map(({ rows }) => rows)}::bigint[]) AS counted (resource, month, rows)),
    settled AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT account_id, resource, month,
        least(
          greatest(coalesce(counted.rows, 0), coalesce(stored_rows.rows, 0) + lowest),
          coalesce(stored_rows.rows, 0) + highest)
      FROM bounds
      LEFT JOIN counted USING (resource, month)
      LEFT JOIN stored_rows USING (account_id, resource, month)
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = excluded.rows)`
}

/** @returns the account's batches that were not cleared; their days must be rebuilt */
export async function readLeftovers(writer: Writer): Promise<JournalEntry[]> {
  type Row = Omit<JournalEntry, 'added'> & { months: string[]; added: number[] }
  const rows = await writer.sql<Row[]>('reading the journal')`
    SELECT token, resource, months::text[] AS months, added,
      (extract(epoch FROM first_at) * 1000)::float8 AS "firstMs", (extract(epoch FROM last_at) * 1000)::float8 AS "lastMs"
    FROM import_batches
    WHERE account_id = ${writer.accountId}
    ORDER BY created_at, token`
  return rows.map(({ months, added, ...entry }) => ({
    ...entry,
    added: months.map((month, index) => ({ month, rows: added[index] ?? 0 })),
  }))
}
