import { type Postgres, queryPostgres } from './connection.ts'

/** Resources with rows that are removed by age. */
export type RetainedResource = 'clicks' | 'events'

/**
 * Times from which the rows of an account are retained, epoch milliseconds, each the start of a UTC month; earlier rows are
 * removed, or being removed. 0: all rows are retained.
 */
export interface RetainedRanges {
  /** Of `clicked_at`. */
  readonly clicksMs: number
  /** Of `occurred_at`. */
  readonly eventsMs: number
}

/** @throws Problem `unavailable` */
export async function readRetainedRanges(postgres: Postgres, accountId: string): Promise<RetainedRanges> {
  const rows = await queryPostgres(postgres<{ resource: RetainedResource; month: string }[]>`
    SELECT resource, to_char(retained_from, 'YYYY-MM-DD') AS month FROM retained_ranges WHERE account_id = ${accountId}`)
  const startOf = (resource: RetainedResource) =>
    Date.parse(rows.find((row) => row.resource === resource)?.month ?? '1970-01-01')
  return { clicksMs: startOf('clicks'), eventsMs: startOf('events') }
}
