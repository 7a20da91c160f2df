import { randomUUID } from 'node:crypto'
import type { Writer, WriteSession } from '../fence/writer.ts'
import { countRowsOf } from '../journal/confirmedRows.ts'
import { clearBatches, type JournalEntry, recordBatches, settleBatches } from '../journal/journal.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { rebuildConversionTables } from './conversionTables.ts'
import { rebuildDays, wholeDays } from './rebuildDays.ts'

/**
 * Rebuilds the derived tables on the days of batches that may be stored in part, here or there, of any number of accounts. Then clears
 * the batches.
 */
export async function repairBatches(session: WriteSession, batches: readonly JournalEntry[]): Promise<void> {
  const changed = (resource: JournalEntry['resource']) => batches.filter((batch) => batch.resource === resource)
  await rebuildDays(session, changed('clicks'))
  const conversions = changed('conversions')
  await rebuildDays(session, conversions)
  if (conversions.length > 0) await rebuildConversionTables(session, accountsOf(conversions))
  await settleBatches(session, batches, await countRowsOf(session, batches))
}

/** Rebuilds click index and sums of the UTC days of these times after other work. The journal has the days meanwhile. */
export async function rebuildDaysAfter(
  writer: Writer,
  times: readonly number[],
  work: () => Promise<void>,
): Promise<void> {
  const { accountId } = writer
  const days = wholeDays(
    [accountId],
    times.map((atMs) => ({ firstMs: atMs, lastMs: atMs })),
  )
  const entries = days.map(({ fromMs, untilMs }) => ({
    ...{ token: randomUUID(), accountId, resource: 'clicks' as const, added: [] },
    ...{ firstMs: fromMs, lastMs: untilMs - 1 },
  }))
  if (entries.length > 0) await recordBatches(writer, entries)
  await work()
  await rebuildDays(writer, entries)
  await clearBatches(writer, entries)
}
