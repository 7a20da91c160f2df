import { setTimeout as pause } from 'node:timers/promises'
import { identifier } from '../../stores/clickhouse/sql.ts'
import { queryPostgres } from '../../stores/postgres/connection.ts'
import { LeaseLost } from '../../stores/postgres/lease.ts'
import type { RetainedResource } from '../../stores/postgres/retainedRanges.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { monthOf } from '../journal/months.ts'
import { deleteRows } from '../lease/deleteRows.ts'
import { readRetained } from '../lease/readRetained.ts'
import type { Writer } from '../lease/writer.ts'
import { agedTables, countBefore, isBefore, retainedMsOf } from './removedRows.ts'

/** Rows that were removed, copies that were not merged included. */
export type RemovedCounts = Record<RetainedResource, number>

/**
 * Servers know for up to 4.5 s what an account retained before, and then repeat responses for 2 s. After this time each
 * response that lacks removed rows says so.
 */
const announceDefaultMs = 7_000

/**
 * Completes a recorded removal. Idempotent; cheap when none is incomplete.
 * @param announceMs time between the record and the removal; 7 s unless given
 * @throws LeaseLost, or the last error when a database stays unavailable
 */
export async function completeRemoval(writer: Writer, announceMs = announceDefaultMs): Promise<RemovedCounts> {
  const { stores, accountId, onMessage, signal } = writer
  const counts: RemovedCounts = { clicks: 0, events: 0 }
  const incomplete = await retryWhileUnavailable(
    'reading which months are removed',
    () =>
      queryPostgres(stores.postgres<{ resource: RetainedResource; ageMs: number }[]>`
        SELECT resource, EXTRACT(EPOCH FROM clock_timestamp() - recorded_at)::float8 * 1000 AS "ageMs"
        FROM retained_ranges WHERE account_id = ${accountId} AND NOT is_complete
        ORDER BY resource`),
    { onMessage, signal },
  )
  if (incomplete.length === 0) return counts
  const waitMs = announceMs - Math.min(...incomplete.map(({ ageMs }) => ageMs))
  if (waitMs > 0) await pause(Math.min(waitMs, announceMs), undefined, { signal })
  const retained = await readRetained(writer)
  for (const { resource } of incomplete) {
    const untilMs = retainedMsOf(resource, retained)
    for (const table of agedTables.filter((one) => one.resource === resource)) {
      const rows = await countBefore(writer, table, untilMs)
      await deleteRows(writer, identifier(table.name), isBefore(accountId, table, untilMs), 'retention', 'rewrite')
      if (!table.isCopy) counts[resource] += rows
    }
    await complete(writer, resource, untilMs)
  }
  return counts
}

/** Only if the lease is still held: another writer may have recorded a later month, and its rows are not removed yet. */
async function complete(writer: Writer, resource: RetainedResource, untilMs: number): Promise<void> {
  const { stores, accountId, lease } = writer
  const attempt = async () => {
    await lease.assertHeld()
    const completed = await queryPostgres(stores.postgres`
      WITH held AS (
        SELECT 1 FROM leases
        WHERE name = ${lease.name} AND fence = ${lease.fencingToken.toString()}::bigint
        FOR SHARE),
      counts AS (
        DELETE FROM stored_rows
        USING held
        WHERE account_id = ${accountId} AND resource = ${resource} AND month < ${monthOf(untilMs)}::date)
      UPDATE retained_ranges SET is_complete = true
      FROM held
      WHERE account_id = ${accountId} AND resource = ${resource} AND retained_from = ${monthOf(untilMs)}::date
      RETURNING 1`)
    if (completed.length === 0) throw new LeaseLost()
  }
  await retryWhileUnavailable('completing the removal of months', attempt, writer)
}

/** Removes rows of removed months that were restored or inserted by hand. @throws what `completeRemoval` throws */
export async function removeAgain(writer: Writer): Promise<void> {
  await writer.lease.assertHeld()
  await retryWhileUnavailable(
    'recording a removal of months',
    () =>
      queryPostgres(
        writer.stores.postgres`UPDATE retained_ranges SET is_complete = false WHERE account_id = ${writer.accountId}`,
      ),
    writer,
  )
  await completeRemoval(writer)
}
