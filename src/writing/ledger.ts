import { untilAnswered } from '../patience.ts'
import { LeaseLost } from '../stores/lease.ts'
import { askPostgres } from '../stores/postgres.ts'
import type { AccountTask } from './accountTasks.ts'
import type { Writer } from './writer.ts'

/** A batch that is sent, or may have been: its token and the days it touches. */
export interface NotedBatch {
  /** Names it. */
  token: string
  resource: 'clicks' | 'conversions'
  /** Earliest clicked_at or converted_at in it, epoch milliseconds. */
  firstMs: number
  /** Latest. */
  lastMs: number
}

/**
 * Notes a batch before it is sent, only if the account's lease is still ours. Clicks make conversions that came before
 * them attributable, so the same statement records that task.
 * The lease's row is locked meanwhile, so that whoever takes the lease next sees the note.
 * @throws LeaseLost
 */
export async function noteBatch(writer: Writer, batch: NotedBatch): Promise<void> {
  const { postgres } = writer.stores
  const { name, fence } = writer.lease
  const rows = await untilAnswered(
    'noting a batch',
    async () => {
      await writer.lease.confirm()
      return await askPostgres(postgres`
        WITH held AS (
          SELECT 1 FROM leases
          WHERE name = ${name} AND fence = ${fence.toString()}::bigint
          FOR SHARE),
        tasks AS (
          INSERT INTO account_tasks (account_id, task)
          SELECT ${writer.accountId}::text, ${'attribute_late_clicks' satisfies AccountTask}::text
          FROM held
          WHERE ${batch.resource}::text = 'clicks'
          ON CONFLICT DO NOTHING)
        INSERT INTO import_batches (token, account_id, resource, first_at, last_at)
        SELECT ${batch.token}::text, ${writer.accountId}::text, ${batch.resource}::text,
          ${new Date(batch.firstMs).toISOString()}::timestamptz, ${new Date(batch.lastMs).toISOString()}::timestamptz
        FROM held
        ON CONFLICT (token) DO UPDATE SET token = excluded.token
        RETURNING 1`)
    },
    writer,
  )
  if (rows.length === 0) throw new LeaseLost()
}

/** Strikes batches that ClickHouse confirmed, or whose days were rebuilt. */
export async function strikeBatches(writer: Writer, tokens: readonly string[]): Promise<void> {
  const { postgres } = writer.stores
  await untilAnswered(
    'striking a batch',
    () => askPostgres(postgres`DELETE FROM import_batches WHERE token = ANY(${tokens as string[]}::text[])`),
    // An interrupted writer still strikes what it stored.
    { say: writer.say, signal: writer.lease.lost },
  )
}

/** @returns the account's batches that nobody struck: their days are to be rebuilt */
export async function leftoverBatches(writer: Writer): Promise<NotedBatch[]> {
  const { postgres } = writer.stores
  const rows = await untilAnswered(
    'reading the ledger',
    () =>
      askPostgres(postgres<{ token: string; resource: NotedBatch['resource']; first_at: Date; last_at: Date }[]>`
        SELECT token, resource, first_at, last_at
        FROM import_batches
        WHERE account_id = ${writer.accountId}
        ORDER BY created_at, token`),
    writer,
  )
  return rows.map(({ token, resource, first_at, last_at }) => ({
    token,
    resource,
    firstMs: first_at.getTime(),
    lastMs: last_at.getTime(),
  }))
}
