import type { PendingQuery, Row } from 'postgres'
import { type Postgres, queryPostgres } from './connection.ts'

/** Resources whose rows are stored in batches. */
export type FreshResource = 'clicks' | 'conversions' | 'costs'

/** Up to when an account has rows of a resource, and when the last one was stored, epoch milliseconds; null: there is none. */
export interface Freshness {
  readonly throughMs: number | null
  readonly storedMs: number | null
}

/** By resource; resources without rows are absent. */
export type FreshnessOfAccount = Readonly<Partial<Record<FreshResource, Freshness>>>

export async function readFreshness(postgres: Postgres, accountId: string): Promise<FreshnessOfAccount> {
  const [row] = await queryPostgres(postgres<{ freshness: FreshnessOfAccount }[]>`
    SELECT ${freshnessOf(postgres, 'id')} AS freshness
    FROM unnest(${[accountId]}::text[]) AS id`)
  return row?.freshness ?? {}
}

/** An expression: the freshness of an account, as FreshnessOfAccount. @param accountId column of the statement */
export function freshnessOf(postgres: Postgres, accountId: 'accounts.id' | 'id'): PendingQuery<Row[]> {
  return postgres.unsafe(`
    (SELECT COALESCE(json_object_agg(resource, json_build_object(
          'throughMs', EXTRACT(EPOCH FROM nullif(data_through, '-infinity')) * 1000,
          'storedMs', EXTRACT(EPOCH FROM last_row_at) * 1000)), '{}')
      FROM watermarks
      WHERE account_id = ${accountId})`)
}
