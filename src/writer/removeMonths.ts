import type { PendingQuery, Row } from 'postgres'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { RetainedRanges, RetainedResource } from '../stores/postgres/retainedRanges.ts'
import { spansWithRows } from './derived/rebuildDays.ts'
import { WriteRefused, type Writer } from './fence/session.ts'
import { type MissingRows, raiseCountsAndFindMissing } from './journal/confirmedRows.ts'
import { monthOf } from './journal/months.ts'
import { compareSpan } from './repair/derivedRows.ts'
import { findDuplicateIds } from './repair/duplicateIds.ts'
import { completeRemoval } from './retention/completeRemoval.ts'
import { type MonthChecksum, monthChecksums, recordChecksums } from './retention/removedMonths.ts'
import { retainedMsOf } from './retention/removedRows.ts'

interface Removal {
  /** WITH clause that records a change of what is retained, from the rows `recorded` (resource, retained_from). */
  audit: (postgres: Postgres) => PendingQuery<Row[]>
  /** SELECT of one row while the account has the settings from which the times were computed; absent: there are none. */
  isDue?: (postgres: Postgres) => PendingQuery<Row[]>
  announceMs?: number | undefined
}

/**
 * Removes clicks and events before the given times; sums, indexes and conversions remain. What is retained is recorded first,
 * with checksums of the sums. A later writer completes an interrupted removal.
 * @param until starts of UTC months, epoch milliseconds; a time before the recorded one changes nothing
 * @returns undefined when the settings changed meanwhile: nothing was removed
 * @throws WriteRefused when clicks or costs to remove are missing or stored twice, or sums do not agree with them: without the rows
 *   nothing could be repaired
 */
export async function removeMonths(writer: Writer, until: RetainedRanges, { announceMs, ...removal }: Removal) {
  const before = await writer.readRetained()
  const changes = (['clicks', 'events'] as const)
    .filter((resource) => retainedMsOf(resource, until) > retainedMsOf(resource, before))
    .map((resource) => ({ resource, month: monthOf(retainedMsOf(resource, until)) }))
  if (changes.length === 0) return { clicks: 0, events: 0 }
  const checksums = until.clicksMs > before.clicksMs ? await checkMonths(writer, before.clicksMs, until.clicksMs) : []
  if (!(await record(writer, changes, checksums, removal))) return undefined
  return await completeRemoval(writer, announceMs)
}

/**
 * Checks that no click or cost is missing or stored twice, and that sums and index agree with the rows. @throws WriteRefused
 * @returns checksums of the sums and the index by month
 */
async function checkMonths(writer: Writer, fromMs: number, untilMs: number): Promise<MonthChecksum[]> {
  const { accountId } = writer
  const verify = `verify --account ${accountId}`
  const refusal = (reason: string, advice: string) =>
    new WriteRefused(`account ${accountId}: ${reason}, and nothing was removed; ${advice}, then run this again.`)
  const isToRemove = ({ table, month }: MissingRows) => table !== 'conversions' && Date.parse(month) < untilMs
  const missing = (await raiseCountsAndFindMissing(writer)).filter(isToRemove)
  if (missing.length > 0) {
    const months = missing.map(({ table, month }) => `${table} of ${month.slice(0, 7)}`).join(', ')
    throw refusal(
      `confirmed ${months} are missing`,
      `follow the advice of ${verify}; if Postgres was restored to a time before months were removed, restore ClickHouse to that time too`,
    )
  }
  // The whole account is checked: the other copy may be in a later month.
  for (const { table } of await findDuplicateIds(writer))
    if (table !== 'conversions') throw refusal(`${table} are stored more than once`, `run ${verify} --repair`)
  const span = { accountIds: [accountId], fromMs, untilMs }
  for (const part of await spansWithRows(writer, span, { clicksMs: fromMs })) {
    if ((await compareSpan(writer, part)).length > 0) {
      const reason = 'sums or the index of the clicks to remove do not agree with the rows'
      throw refusal(reason, `run ${verify} --repair`)
    }
  }
  return await monthChecksums(writer, span)
}

/** One statement: nothing is removed without its record. @returns false when the settings have changed: nothing is recorded */
async function record(
  writer: Writer,
  changes: readonly { resource: RetainedResource; month: string }[],
  checksums: readonly MonthChecksum[],
  { audit, isDue }: Omit<Removal, 'announceMs'>,
): Promise<boolean> {
  const { postgres } = writer.stores
  const result = postgres<{ isDue: boolean }[]>`SELECT EXISTS (SELECT FROM due) AS "isDue" FROM held`
  const [state] = await writer.change('recording which months are removed', result)`
    due AS (${isDue?.(postgres) ?? postgres`SELECT 1`}),
    recorded AS (
      INSERT INTO retained_ranges (account_id, resource, retained_from)
      SELECT ${writer.accountId}::text, changed.resource, changed.month
      FROM held, due, jsonb_to_recordset(${postgres.json(changes)}) AS changed (resource text, month date)
      ON CONFLICT (account_id, resource) DO UPDATE
      SET retained_from = excluded.retained_from, recorded_at = clock_timestamp(), is_complete = false
      WHERE retained_ranges.retained_from < excluded.retained_from
      RETURNING account_id, resource, retained_from),
    ${recordChecksums(writer, postgres, checksums, postgres`held, due`)},
    ${audit(postgres)}`
  return state?.isDue ?? false
}
