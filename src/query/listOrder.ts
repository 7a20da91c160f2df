import { Problem } from '../problem.ts'
import { type Postgres, queryPostgres } from '../stores/postgres/connection.ts'
import { readInstant } from './timeRange.ts'

/** In which order a list is walked. */
export interface ListOrder {
  isOldestFirst: boolean
  /** Then by `storedAt`, from this moment on. */
  updatedSinceMs: number | undefined
}

/**
 * Decides the order of a list.
 * @throws Problem `invalid_order`, `invalid_updated_since`
 */
export function planListOrder({ order, updated_since }: { order?: 'asc' | 'desc'; updated_since?: string }): ListOrder {
  if (updated_since === undefined) return { isOldestFirst: order === 'asc', updatedSinceMs: undefined }
  if (order === 'desc') {
    throw new Problem('invalid_order', 'order must be asc beside updated_since, or be left out.', { param: 'order' })
  }
  return { isOldestFirst: true, updatedSinceMs: readInstant('updated_since', updated_since) }
}

/** What a cursor is bound to beside filters; nothing for newest first, so that cursors of that order stay what they were. */
export function cursorBinding({ isOldestFirst }: ListOrder): { order?: 'asc' } {
  return isOldestFirst ? { order: 'asc' } : {}
}

/**
 * Finds the moment before which nothing will be stored any more: every row with an earlier `storedAt` can be seen by a query
 * sent after this, and no batch in flight or to come adds one. Batches stand in the journal from before they are sent until
 * they can be seen, and get moments in ascending order, whatever the clocks say. It stays the same while nothing is stored.
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
