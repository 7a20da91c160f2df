import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

/** Below the timeout of a Prometheus scrape, which would otherwise get no metrics at all. */
const deadlineMs = 2_000

/**
 * Reads the age of the oldest unconfirmed import batch. The journal has a batch from before it is sent until it is
 * confirmed in its table and in every sums table; one that remains belongs to a crashed import.
 * @returns seconds since the batch was recorded; 0 without such a batch, NaN while Postgres is unavailable
 */
export async function oldestBatchAgeS(postgres: Postgres): Promise<number> {
  try {
    const oldest = postgres<{ ageS: number }[]>`
      SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(created_at)), 0)::float8 AS "ageS"
      FROM import_batches`
    const [row] = await queryPostgres(oldest, deadlineMs)
    return row?.ageS ?? Number.NaN
  } catch {
    return Number.NaN
  }
}
