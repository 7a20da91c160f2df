import { Problem } from './problem.ts'
import { ch } from './sql/fragment.ts'
import { selectRows } from './sql/rows.ts'
import type { Stores } from './stores/open.ts'
import { askPostgres } from './stores/postgres.ts'
import { momentOf } from './time/range.ts'

/** In which order a list is walked. */
export interface Walk {
  isOldestFirst: boolean
  /** Then by `storedAt`, from this moment on. */
  updatedSinceMs: number | undefined
}

/**
 * Decides the order of a list.
 * @throws Problem `invalid_order`, `invalid_updated_since`
 */
export function planWalk({ order, updated_since }: { order?: 'asc' | 'desc'; updated_since?: string }): Walk {
  if (updated_since === undefined) return { isOldestFirst: order === 'asc', updatedSinceMs: undefined }
  if (order === 'desc') {
    throw new Problem('invalid_order', 'order must be asc beside updated_since, or be left out.', { param: 'order' })
  }
  return { isOldestFirst: true, updatedSinceMs: momentOf('updated_since', updated_since) }
}

/** What a cursor is bound to beside filters; nothing for newest first, so that cursors of that order stay what they were. */
export function orderOf({ isOldestFirst }: Walk): { order?: 'asc' } {
  return isOldestFirst ? { order: 'asc' } : {}
}

/** What rounding a moment to milliseconds may add to it. */
const roundingMs = 1

/**
 * Finds the moment before which nothing is stored any more: every row with an earlier `storedAt` can be seen by whoever
 * asks after this, and no write under way will add another. Writes stand in the ledger from before they are sent until
 * they can be seen, and rows are dated by ClickHouse when they arrive there. So the clock of ClickHouse is read first, then
 * how long the oldest write of the ledger has been under way; both clocks may differ.
 * @throws Problem `unavailable`
 */
export async function settledUntil(
  { clickhouse, postgres }: Pick<Stores, 'clickhouse' | 'postgres'>,
  accountId: string,
  resource: 'clicks' | 'conversions',
  signal: AbortSignal,
): Promise<number> {
  const nowMs = await earliestClockMs(clickhouse, signal)
  const [oldest] = await askPostgres(postgres<{ agedMs: number | null }[]>`
    SELECT ceil(extract(epoch FROM clock_timestamp() - min(created_at)) * 1000)::float8 AS "agedMs"
    FROM import_batches
    WHERE account_id = ${accountId} AND resource = ${resource}`)
  const agedMs = oldest?.agedMs ?? null
  return agedMs === null ? nowMs : nowMs - Math.max(0, agedMs) - roundingMs
}

/** Any node of a cluster may have dated a row, each by a clock of its own. */
async function earliestClockMs(clickhouse: Stores['clickhouse'], signal: AbortSignal): Promise<number> {
  const question = ch`SELECT toUnixTimestamp64Milli(now64(3)) AS nowMs`
  const readers = clickhouse.cluster?.nodes.map(({ client }) => client) ?? [clickhouse.reader]
  const clocks = await Promise.all(
    readers.map(async (reader) => {
      const asked = { reader, onQuery: clickhouse.onQuery }
      const [row] = await selectRows<{ nowMs: number }>(asked, question, { label: 'walk.clock', signal })
      return row?.nowMs ?? 0
    }),
  )
  return Math.min(...clocks)
}
