import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../lease/writer.ts'

/**
 * Work that an account needs besides its batches.
 * `attribute_late_clicks`: clicks were stored, so conversions that arrived before their click may have to be attributed.
 * `attribute_conversions`: duplicate clicks are removed, so conversions may have to be attributed to the remaining copy.
 */
export type AccountTask = 'attribute_late_clicks' | 'attribute_conversions'

/** @throws the last error when Postgres stays unavailable */
export async function openTasks({ stores, accountId, ...retry }: Writer): Promise<Set<AccountTask>> {
  const rows = await retryWhileUnavailable(
    'reading the tasks of the account',
    () =>
      queryPostgres(stores.postgres<{ task: AccountTask }[]>`
        SELECT task FROM account_tasks WHERE account_id = ${accountId}`),
    retry,
  )
  return new Set(rows.map(({ task }) => task))
}

/** Records a task before the work that makes it necessary, so that the next writer completes it after an interruption. */
export async function recordTask({ stores, accountId, ...retry }: Writer, task: AccountTask): Promise<void> {
  await retryWhileUnavailable(
    'recording a task',
    () =>
      queryPostgres(stores.postgres`
        INSERT INTO account_tasks (account_id, task) VALUES (${accountId}, ${task}) ON CONFLICT DO NOTHING`),
    retry,
  )
}

/**
 * Removes a completed task, only if the account's lease is still held by this writer: the next holder may have recorded
 * it again.
 * @throws the last error when Postgres stays unavailable; the next writer then repeats the task
 */
export async function completeTask({ stores, accountId, lease, ...retry }: Writer, task: AccountTask): Promise<void> {
  await retryWhileUnavailable(
    'completing a task',
    () =>
      queryPostgres(stores.postgres`
        DELETE FROM account_tasks
        USING (
          SELECT 1 FROM leases
          WHERE name = ${lease.name} AND fence = ${lease.fencingToken.toString()}::bigint
          FOR SHARE) AS held
        WHERE account_id = ${accountId} AND task = ${task}`),
    retry,
  )
}

/**
 * Lists accounts with unconfirmed batches, incomplete tasks, erasures or removals of months: their writer is active or was
 * interrupted. Reads small tables.
 * @returns account ids
 * @throws Problem `unavailable`
 */
export async function accountsWithUnfinishedWork(postgres: Postgres): Promise<string[]> {
  const rows = await queryPostgres(postgres<{ account_id: string }[]>`
    SELECT account_id FROM (
      SELECT account_id FROM import_batches
      UNION
      SELECT account_id FROM account_tasks
      UNION
      SELECT account_id FROM erasures WHERE NOT is_complete
      UNION
      SELECT account_id FROM retained_ranges WHERE NOT is_complete) AS unfinished
    WHERE NOT EXISTS (SELECT FROM account_deletions WHERE account_deletions.account_id = unfinished.account_id)
    ORDER BY account_id`)
  return rows.map(({ account_id }) => account_id)
}
