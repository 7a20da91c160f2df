import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant, text } from '../../stores/clickhouse/sql.ts'
import { queryPostgres } from '../../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'
import type { RowsAheadOfWatermark } from './difference.ts'

const sources: Record<RowsAheadOfWatermark['table'], { table: Fragment; at: Fragment }> = {
  clicks: { table: ch`clicks`, at: ch`clicked_at` },
  conversions: { table: ch`conversions`, at: ch`converted_at` },
}

/**
 * Finds rows whose moment of storing is later than every one that was given to a batch of the account, by month. Batches get
 * ascending moments, so these rows came from elsewhere, or Postgres was restored to an earlier state than ClickHouse. Reads
 * by `updated_since` do not return them, and later rows would be stored before moments that were already read.
 */
export async function compareStoredMoments(writer: Writer): Promise<RowsAheadOfWatermark[]> {
  const found: RowsAheadOfWatermark[] = []
  for (const resource of ['clicks', 'conversions'] as const) {
    const { table, at } = sources[resource]
    const query = ch`
SELECT toStartOfMonth(${at}) AS month, toUInt32(uniqExact(id)) AS rows,
  toUnixTimestamp64Milli(max(stored_at)) AS latestMs
FROM ${table}
WHERE account_id = ${text(writer.accountId)}
  AND stored_at > ${instant(await readLastGiven(writer, resource))}
GROUP BY month
ORDER BY month`
    const asking = { label: 'verify', signal: writer.signal, ...batchTimeout }
    const rows = await retryWhileUnavailable(
      'comparing moments of storing',
      () =>
        selectRows<Pick<RowsAheadOfWatermark, 'month' | 'rows' | 'latestMs'>>(writer.stores.clickhouse, query, asking),
      writer,
    )
    found.push(...rows.map((row) => ({ kind: 'ahead_of_watermark' as const, table: resource, ...row })))
  }
  return found
}

/** Gives later batches moments behind those of such rows, so that every read by `updated_since` goes on past them. */
export async function raiseWatermark(writer: Writer, { table, latestMs }: RowsAheadOfWatermark): Promise<void> {
  await retryWhileUnavailable(
    'raising the watermark',
    () =>
      queryPostgres(writer.stores.postgres`
        INSERT INTO watermarks AS known (account_id, resource, stored_at)
        VALUES (${writer.accountId}, ${table}, ${new Date(latestMs).toISOString()}::timestamptz)
        ON CONFLICT (account_id, resource) DO UPDATE SET stored_at = greatest(known.stored_at, excluded.stored_at)`),
    writer,
  )
}

/** @returns the moment of the account's latest batch, epoch milliseconds; that of the account's making before the first */
async function readLastGiven(writer: Writer, resource: RowsAheadOfWatermark['table']): Promise<number> {
  const [row] = await retryWhileUnavailable(
    'reading the watermark',
    () =>
      queryPostgres(writer.stores.postgres<{ storedAt: Date }[]>`
        SELECT coalesce(watermarks.stored_at, accounts.created_at) AS "storedAt"
        FROM accounts
        LEFT JOIN watermarks ON watermarks.account_id = accounts.id AND resource = ${resource}
        WHERE id = ${writer.accountId}`),
    writer,
  )
  return row?.storedAt.getTime() ?? 0
}
