import { type RowTable, rowTables } from '../../query/attributes.ts'
import { ch, identifier, instant } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../fence/session.ts'
import { countRows } from '../journal/confirmedRows.ts'
import { rowsInClickHouse } from '../journal/journal.ts'

/** Rows that reads by `updated_since` do not return, because their `stored_at` is later than in every batch. */
interface RowsAheadOfWatermark {
  table: RowTable
  /** First day of a UTC month, `2026-11-01`. */
  month: string
  rows: number
  /** The latest `stored_at` of these rows, epoch milliseconds. */
  latestMs: number
}

/**
 * Finds rows with a `stored_at` later than in every batch, by month: no batch stored them, or Postgres was restored to an
 * earlier state. Reads by `updated_since` do not return them, and would skip later rows once they had.
 */
export async function findRowsAheadOfWatermark(writer: Writer): Promise<RowsAheadOfWatermark[]> {
  const found: RowsAheadOfWatermark[] = []
  for (const resource of rowTables) {
    const query = ch`
SELECT toStartOfMonth(${timeColumns[resource]}) AS month, toUInt32(uniqExact(id)) AS rows,
  toUnixTimestamp64Milli(max(stored_at)) AS latestMs
FROM ${identifier(resource)}
WHERE ${writer.ofAccount}
  AND stored_at > ${instant(await readLatestStoredAt(writer, resource))}
GROUP BY month
ORDER BY month`
    type Row = Omit<RowsAheadOfWatermark, 'table'>
    const rows = await writer.select<Row>('comparing times of storage', query, 'verify')
    found.push(...rows.map((row) => ({ table: resource, ...row })))
  }
  return found
}

/**
 * Raises the watermark to the `stored_at` of such rows, so that reads return them and later batches get later values. All rows are counted,
 * so the earliest time that is in the future replaces the earlier one.
 */
export async function raiseWatermarks(writer: Writer, found: readonly RowsAheadOfWatermark[]): Promise<void> {
  for (const { table, latestMs } of found) {
    const counted = rowsInClickHouse(writer, await countRows(writer, [writer.accountId], table))
    await writer.change('raising the watermark')`
      ${counted},
      raised AS (
        INSERT INTO watermarks AS existing (account_id, resource, stored_at, data_through, ahead_at, last_row_at)
        SELECT ${writer.accountId}::text, ${table}::text, ${new Date(latestMs).toISOString()}::timestamptz,
          coalesce(max(through_at), '-infinity'), min(ahead_at), max(counted.stored_at)
        FROM held LEFT JOIN counted ON true
        HAVING count(*) > 0
        ON CONFLICT (account_id, resource) DO UPDATE SET
          stored_at = greatest(existing.stored_at, excluded.stored_at),
          data_through = greatest(existing.data_through, excluded.data_through),
          ahead_at = excluded.ahead_at,
          last_row_at = greatest(existing.last_row_at, excluded.last_row_at))`
  }
}

/** @returns `stored_at` of the account's latest batch, epoch milliseconds; without a batch, the account's creation time */
async function readLatestStoredAt(writer: Writer, resource: RowsAheadOfWatermark['table']): Promise<number> {
  const [row] = await writer.sql<{ storedAt: Date }[]>('reading the watermark')`
    SELECT coalesce(watermarks.stored_at, accounts.created_at) AS "storedAt"
    FROM accounts
    LEFT JOIN watermarks ON watermarks.account_id = accounts.id AND resource = ${resource}
    WHERE id = ${writer.accountId}`
  return row?.storedAt.getTime() ?? 0
}

/**
 * Finds watermarks, RFC 3339, more than a day after the clock of Postgres, as after a time in which this clock was ahead. Later
 * batches get times even later, until the clock has caught up.
 */
export async function findWatermarksInFuture(writer: Writer): Promise<{ table: string; watermark: string }[]> {
  const rows = await writer.sql<{ table: string; storedAt: Date }[]>('reading the watermark')`
    SELECT resource AS table, stored_at AS "storedAt"
    FROM watermarks
    WHERE account_id = ${writer.accountId} AND stored_at > clock_timestamp() + interval '1 day'
    ORDER BY resource`
  return rows.map(({ table, storedAt }) => ({ table, watermark: storedAt.toISOString() }))
}
