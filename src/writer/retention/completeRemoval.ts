import { identifier } from '../../stores/clickhouse/sql.ts'
import type { RetainedResource } from '../../stores/postgres/retainedRanges.ts'
import { rebuildIndexes } from '../derived/indexes.ts'
import { deleteRows } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'
import { monthOf } from '../journal/months.ts'
import { agedTables, countBefore, isBefore, retainedMsOf } from './removedRows.ts'

/** Servers know for up to 4.5 s what was retained before, and repeat responses for 2 s. Later responses say that rows were removed. */
const announceDefaultMs = 7_000

/** Completes a recorded removal. Idempotent. @param announceMs time between the record and the removal; 7 s unless given */
export async function completeRemoval(writer: Writer, announceMs = announceDefaultMs) {
  const { accountId } = writer
  const counts = { clicks: 0, events: 0 }
  type Recorded = { resource: RetainedResource; ageMs: number }
  const incomplete = await writer.sql<Recorded[]>('reading which months are removed')`
    SELECT resource, EXTRACT(EPOCH FROM clock_timestamp() - recorded_at)::float8 * 1000 AS "ageMs"
    FROM retained_ranges WHERE account_id = ${accountId} AND NOT is_complete
    ORDER BY resource`
  if (incomplete.length === 0) return counts
  const waitMs = announceMs - Math.min(...incomplete.map(({ ageMs }) => ageMs))
  if (waitMs > 0) await writer.pause(Math.min(waitMs, announceMs))
  const retained = await writer.readRetained()
  for (const { resource } of incomplete) {
    const untilMs = retainedMsOf(resource, retained)
    const tables = agedTables.filter((one) => one.resource === resource)
    for (const table of tables) {
      const rows = await countBefore(writer, table, untilMs)
      await deleteRows(writer, identifier(table.name), isBefore(writer, table, untilMs), 'retention', 'rewrite')
      if (!table.isCopy) counts[resource] += rows
    }
    if (resource === 'clicks') await rebuildIndexes(writer, [accountId])
    // Throws LeaseLost also when another writer has recorded a later month, whose rows are not removed yet.
    await writer.change('completing the removal of months', writer.stores.postgres`SELECT FROM completed`)`
      counts AS (
        DELETE FROM stored_rows
        USING held
        WHERE account_id = ${accountId} AND resource = ANY(${tables.map(({ name }) => name)}::text[])
          AND month < ${monthOf(untilMs)}::date),
      completed AS (
        UPDATE retained_ranges SET is_complete = true
        FROM held
        WHERE account_id = ${accountId} AND resource = ${resource} AND retained_from = ${monthOf(untilMs)}::date
        RETURNING 1)`
  }
  return counts
}

/** Removes rows of removed months that were restored or inserted by hand. @throws what `completeRemoval` throws */
export async function removeAgain(writer: Writer): Promise<void> {
  await writer.change('recording a removal of months')`
    recorded AS (
      UPDATE retained_ranges SET is_complete = false FROM held WHERE account_id = ${writer.accountId})`
  await completeRemoval(writer)
}
