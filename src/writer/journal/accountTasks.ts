import { type Postgres, queryPostgres } from '../../stores/postgres/connection.ts'
import type { Writer, WriteSession } from '../fence/session.ts'

/**
 * `attribute_late_clicks`: clicks were stored, so conversions from before their click may have to be attributed.
 * `attribute_conversions`: duplicate clicks are removed, so conversions may have to be attributed to the remaining copy.
 */
export type AccountTask = 'attribute_late_clicks' | 'attribute_conversions'

export async function isTaskOpen(writer: Writer, task: AccountTask): Promise<boolean> {
  const rows = await writer.sql('reading the tasks of the account')`
    SELECT 1 FROM account_tasks WHERE account_id = ${writer.accountId} AND task = ${task}`
  return rows.length > 0
}

/** Records a task before the work that makes it necessary, so that the next writer completes it after an interruption. */
export async function recordTask(writer: Writer, task: AccountTask): Promise<void> {
  await writer.sql('recording a task')`
    INSERT INTO account_tasks (account_id, task) VALUES (${writer.accountId}, ${task}) ON CONFLICT DO NOTHING`
}

/** Removes a completed task of accounts. @throws LeaseLost: the next holder may have recorded it again */
export async function completeTask(session: WriteSession, accountIds: readonly string[], task: AccountTask) {
  await session.change('completing a task')`
    completed AS (
      DELETE FROM account_tasks USING held
      WHERE account_id = ANY(${[...accountIds]}::text[]) AND task = ${task})`
}

/**
 * Lists accounts whose writer was interrupted. Reads small tables.
 * @param among accounts that the caller has claimed; all accounts without a live writer unless given
 * @returns also whether only imports were interrupted, no erasure and no removal of months
 */
export async function accountsWithUnfinishedWork(postgres: Postgres, among?: readonly string[]) {
  const isFree = postgres`
    NOT EXISTS (
      SELECT FROM leases AS claim JOIN leases AS holder ON holder.name = claim.process
      WHERE claim.name = 'writer:' || account_id AND holder.owner <> '' AND holder.expires_at > clock_timestamp())`
  return await queryPostgres(postgres<{ accountId: string; isImport: boolean }[]>`
    SELECT account_id AS "accountId", bool_and(is_import) AS "isImport"
    FROM (
      SELECT account_id, token NOT LIKE 'erasure %' AS is_import FROM import_batches
      UNION ALL
      SELECT account_id, task = ${'attribute_late_clicks' satisfies AccountTask} FROM account_tasks
      UNION ALL
      SELECT account_id, true FROM watermarks WHERE data_through IS NULL
      UNION ALL
      SELECT account_id, false FROM erasures WHERE NOT is_complete
      UNION ALL
      SELECT account_id, false FROM retained_ranges WHERE NOT is_complete) AS unfinished
    WHERE NOT EXISTS (SELECT FROM account_deletions WHERE account_deletions.account_id = unfinished.account_id)
      AND ${among ? postgres`account_id = ANY(${[...among]}::text[])` : isFree}
    GROUP BY account_id
    ORDER BY account_id`)
}
