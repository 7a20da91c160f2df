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

/** A scalar of the freshness of `accounts.id`, for a SELECT. */
export function selectFreshness(postgres: Postgres): PendingQuery<Row[]> {
  return postgres`
    (SELECT COALESCE(json_object_agg(resource, json_build_object(
        'throughMs', EXTRACT(EPOCH FROM nullif(data_through, '-infinity')) * 1000,
        'storedMs', EXTRACT(EPOCH FROM last_row_at) * 1000)), '{}')
      FROM watermarks
      WHERE account_id = accounts.id)`
}

export async function readFreshness(postgres: Postgres, accountId: string): Promise<FreshnessOfAccount> {
  const [row] = await queryPostgres(postgres<{ freshness: FreshnessOfAccount }[]>`
    SELECT ${selectFreshness(postgres)} AS freshness FROM accounts WHERE id = ${accountId}`)
  return row?.freshness ?? {}
}
