import type { RowTable } from '../../query/attributes.ts'
import { identifier } from '../../stores/clickhouse/sql.ts'
import type { RetainedResource } from '../../stores/postgres/retainedRanges.ts'
import { rebuildIndexes } from '../derived/indexes.ts'
import { deleteRows } from '../fence/mutations.ts'
import type { Writer } from '../fence/session.ts'
import { monthOf } from '../journal/months.ts'
import { agedTables, countBefore, isBefore, retainedMsOf } from './removedRows.ts'

type RemovedCounts = Record<RetainedResource, number>

/** Servers know for up to 4.5 s what was retained before, and repeat responses for 2 s. Later responses say that rows were removed. */
const announceDefaultMs = 7_000

/** Completes a recorded removal. Idempotent. @param announceMs time between the record and the removal; 7 s unless given */
export async function completeRemoval(writer: Writer, announceMs = announceDefaultMs): Promise<RemovedCounts> {
  const { accountId } = writer
  const counts: RemovedCounts = { clicks: 0, events: 0 }
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
    for (const table of agedTables.filter((one) => one.resource === resource)) {
      const rows = await countBefore(writer, table, untilMs)
      await deleteRows(writer, identifier(table.name), isBefore(writer, table, untilMs), 'retention', 'rewrite')
      if (!table.isCopy) counts[resource] += rows
    }
    if (resource === 'clicks') await rebuildIndexes(writer, [accountId])
    await recordCompletion(writer, resource, untilMs)
  }
  return counts
}

/** Costs are removed with the clicks of their time. Events are not counted. */
const countedWith: Record<RetainedResource, readonly RowTable[]> = { clicks: ['clicks', 'costs'], events: [] }

/** @throws LeaseLost also when another writer has recorded a later month, whose rows are not removed yet */
async function recordCompletion(writer: Writer, resource: RetainedResource, untilMs: number): Promise<void> {
  const { accountId } = writer
  await writer.change('completing the removal of months', writer.stores.postgres`SELECT FROM completed`)`
    counts AS (
      DELETE FROM stored_rows
      USING held
      WHERE account_id = ${accountId} AND resource = ANY(${[...countedWith[resource]]}::text[]) AND month < ${monthOf(untilMs)}::date),
    completed AS (
      UPDATE retained_ranges SET is_complete = true
      FROM held
      WHERE account_id = ${accountId} AND resource = ${resource} AND retained_from = ${monthOf(untilMs)}::date
      RETURNING 1)`
}

/** Removes rows of removed months that were restored or inserted by hand. @throws what `completeRemoval` throws */
export async function removeAgain(writer: Writer): Promise<void> {
  await writer.change('recording a removal of months')`
    recorded AS (
      UPDATE retained_ranges SET is_complete = false FROM held WHERE account_id = ${writer.accountId})`
  await completeRemoval(writer)
}
