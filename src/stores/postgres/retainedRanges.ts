import { type Postgres, queryPostgres } from './connection.ts'

/** Resources with rows that are removed by age. */
export type RetainedResource = 'clicks' | 'events'

/** From when an account's rows are retained: starts of UTC months, epoch milliseconds; 0: all. Earlier rows are or will be removed. */
export interface RetainedRanges {
  readonly clicksMs: number
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
