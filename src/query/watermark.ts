import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'

/**
 * Reads the time before which no more rows will be stored: every row with an earlier `storedAt` is visible to a query sent
 * after this one, and no current or later batch adds another. Batches are in the journal from before they are sent until
 * they are visible, and their times ascend even if a clock is set back. The value does not change while nothing is stored.
 * @returns epoch milliseconds
 * @throws Problem `unavailable`
 */
export async function readWatermark(
  postgres: Postgres,
  accountId: string,
  resource: 'clicks' | 'conversions',
): Promise<number> {
  const [row] = await queryPostgres(postgres<{ watermarkMs: number }[]>`
    SELECT extract(epoch FROM coalesce(
      (SELECT min(stored_at) FROM import_batches WHERE account_id = ${accountId} AND resource = ${resource}),
      (SELECT stored_at FROM watermarks WHERE account_id = ${accountId} AND resource = ${resource})
        + interval '1 millisecond',
      created_at
    ))::float8 * 1000 AS "watermarkMs"
    FROM accounts
    WHERE id = ${accountId}`)
  return Math.round(row?.watermarkMs ?? 0)
}
