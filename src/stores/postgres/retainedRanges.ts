import { type Postgres, queryPostgres } from './connection.ts'

/** Resources with rows that are removed by age. */
export type RetainedResource = 'clicks' | 'events'

/** From when an account's rows are retained: starts of UTC months, epoch milliseconds; 0: all. Earlier rows are or will be removed. */
export type RetainedRanges = { readonly clicksMs: number; readonly eventsMs: number }

/** @returns the ranges of several accounts, by account */
export async function readRangesByAccount(
  postgres: Postgres,
  accountIds: readonly string[],
): Promise<Map<string, RetainedRanges>> {
  type Row = { accountId: string; resource: RetainedResource; month: string }
  const rows = await queryPostgres(postgres<Row[]>`
    SELECT account_id AS "accountId", resource, to_char(retained_from, 'YYYY-MM-DD') AS month
    FROM retained_ranges
    WHERE account_id = ANY(${[...accountIds]}::text[])`)
  const starts = new Map(rows.map(({ accountId, resource, month }) => [`${accountId} ${resource}`, Date.parse(month)]))
  const startOf = (accountId: string, resource: RetainedResource) => starts.get(`${accountId} ${resource}`) ?? 0
  return new Map(accountIds.map((id) => [id, { clicksMs: startOf(id, 'clicks'), eventsMs: startOf(id, 'events') }]))
}

/** Reads the ranges of one account. */
export async function readRetainedRanges(postgres: Postgres, accountId: string): Promise<RetainedRanges> {
  return (await readRangesByAccount(postgres, [accountId])).get(accountId) ?? { clicksMs: 0, eventsMs: 0 }
}
