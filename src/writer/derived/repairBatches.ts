import { countRowsOf } from '../journal/confirmedRows.ts'
import { type JournalEntry, settleBatches } from '../journal/journal.ts'
import type { Writer } from '../lease/writer.ts'
import { rebuildClickDays, rebuildSums, wholeDays } from './clickDays.ts'
import { rebuildConversionTables } from './conversionTables.ts'

/**
 * Rebuilds all derived tables from the stored rows, on the days of batches that may be stored in part: in their table but
 * not in the derived ones, or the reverse. Then clears the batches from the journal.
 * @throws LeaseLost, or the last error when a database stays unavailable
 */
export async function repairBatches(writer: Writer, batches: readonly JournalEntry[]): Promise<void> {
  const daysOf = (resource: JournalEntry['resource']) =>
    wholeDays(
      writer.accountId,
      batches.filter((batch) => batch.resource === resource),
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
