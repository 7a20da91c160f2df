import { type JournalEntry, settleBatches } from '../journal.ts'
import { countRowsOf } from '../storedRows.ts'
import type { Writer } from '../writer.ts'
import { rebuildClickDays, rebuildSums, wholeDays } from './clickDays.ts'
import { rebuildConversionTables } from './conversionTables.ts'

/**
 * Makes everything that is made of rows what the stored rows say, on the days of batches that may be stored in part:
 * in their table and not in its views, or the other way round. Then clears them from the journal.
 * @throws LeaseLost, or the last error when a store stays unavailable
 */
export async function repairBatches(writer: Writer, batches: readonly JournalEntry[]): Promise<void> {
  const daysOf = (rows: JournalEntry['resource']) =>
    wholeDays(
      writer.accountId,
      batches.filter(({ resource }) => resource === rows),
    )
  for (const span of daysOf('clicks')) await rebuildClickDays(writer, span)
  const conversionDays = daysOf('conversions')
  for (const span of conversionDays) await rebuildSums(writer, span)
  if (conversionDays.length > 0) await rebuildConversionTables(writer)
  await settleBatches(
    writer,
    batches.map(({ token }) => token),
    await countRowsOf(writer, batches),
  )
}
