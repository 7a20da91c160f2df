import { rowTables } from '../../query/attributes.ts'
import type { Writer, WriteSession } from '../fence/session.ts'
import { countRowsOf } from '../journal/confirmedRows.ts'
import { clearBatches, entryOf, type JournalEntry, recordBatches, settleBatches } from '../journal/journal.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { rebuildIndexes } from './indexes.ts'
import { rebuildDays, wholeDays } from './rebuildDays.ts'

/**
 * Rebuilds the derived tables on the days of batches that may be stored in part, here or there, of any number of accounts. Then clears
 * the batches.
 */
export async function repairBatches(session: WriteSession, batches: readonly JournalEntry[]): Promise<void> {
  for (const ofResource of rowTables.map((table) => batches.filter(({ resource }) => resource === table)))
    await rebuildDays(session, ofResource)
  const changing = batches.filter(({ resource }) => resource !== 'clicks')
  if (changing.length > 0) await rebuildIndexes(session, accountsOf(changing))
  await settleBatches(session, batches, await countRowsOf(session, batches))
}

/** Rebuilds click index and sums of the UTC days of these times after other work. The journal has the days meanwhile. */
export async function rebuildDaysAfter(writer: Writer, times: readonly number[], work: () => Promise<void>) {
  const { accountId } = writer
  const ranges = times.map((atMs) => ({ firstMs: atMs, lastMs: atMs }))
  const entries = wholeDays([accountId], ranges).map(({ fromMs, untilMs }) =>
    entryOf(accountId, 'clicks', { firstMs: fromMs, lastMs: untilMs - 1, added: [] }),
  )
  if (entries.length > 0) await recordBatches(writer, entries)
  await work()
  await rebuildDays(writer, entries)
  await clearBatches(writer, entries)
}
