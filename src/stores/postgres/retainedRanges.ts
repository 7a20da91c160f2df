import type { PendingQuery, Row } from 'postgres'
import { type Postgres, queryPostgres } from './connection.ts'

/** Resources with rows that are removed by age. */
export type RetainedResource = 'clicks' | 'events'

/** From when an account's rows are retained: starts of UTC months, epoch milliseconds; 0: all. Earlier rows are or will be removed. */
export type RetainedRanges = { readonly clicksMs: number; readonly eventsMs: number }

/** @returns the ranges of several accounts, by account */
export async function readRangesByAccount(postgres: Postgres, accountIds: readonly string[]) {
  const rows = await queryPostgres(postgres<{ id: string; retained: RetainedRanges }[]>`
    SELECT id, ${retainedRangesOf(postgres, 'id')} AS retained
    FROM unnest(${[...accountIds]}::text[]) AS id`)
  return new Map(rows.map(({ id, retained }) => [id, retained]))
}

/** An expression: the ranges of an account, as RetainedRanges. @param accountId column of the statement */
export function retainedRangesOf(postgres: Postgres, accountId: 'accounts.id' | 'id'): PendingQuery<Row[]> {
  return postgres.unsafe(`
    (SELECT json_build_object(
        'clicksMs', COALESCE(max(EXTRACT(EPOCH FROM retained_from) * 1000) FILTER (WHERE resource = 'clicks'), 0),
        'eventsMs', COALESCE(max(EXTRACT(EPOCH FROM retained_from) * 1000) FILTER (WHERE resource = 'events'), 0))
      FROM retained_ranges
      WHERE account_id = ${accountId})`)
}

/** Reads the ranges of one account. */
export async function readRetainedRanges(postgres: Postgres, accountId: string): Promise<RetainedRanges> {
  return (await readRangesByAccount(postgres, [accountId])).get(accountId) ?? { clicksMs: 0, eventsMs: 0 }
}
