import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'

/** Whoever collects figures does not wait for long; then none of them would arrive. */
const deadlineMs = 2_000

/**
 * How long the sums of imports have been unconfirmed: a batch stands in the ledger from before it is sent until it is
 * known to be in its table and every rollup. One that stays was left by an import that died.
 * @returns seconds since the oldest such batch was noted; 0 when there is none, NaN while Postgres does not answer
 */
export async function rollupAgeS(postgres: Postgres): Promise<number> {
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
