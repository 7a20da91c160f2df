import { randomUUID } from 'node:crypto'
import type { Writer } from '../fence/writer.ts'
import { countRowsOf } from '../journal/confirmedRows.ts'
import { clearBatches, type JournalEntry, recordBatch, settleBatches } from '../journal/journal.ts'
import { rebuildConversionTables } from './conversionTables.ts'
import { rebuildDays, wholeDays } from './rebuildDays.ts'

/** Rebuilds the derived tables on the days of batches that may be stored in part, here or there. Then clears the batches. */
export async function repairBatches(writer: Writer, batches: readonly JournalEntry[]): Promise<void> {
  for (const resource of ['clicks', 'conversions'] as const) {
    const changed = batches.filter((batch) => batch.resource === resource)
    for (const span of wholeDays(writer.accountId, changed)) await rebuildDays(writer, span, resource)
    if (resource === 'conversions' && changed.length > 0) await rebuildConversionTables(writer)
  }
  await settleBatches(
    writer,
    batches.map(({ token }) => token),
    await countRowsOf(writer, batches),
  )
}

/** Rebuilds click index and sums of the UTC days of these times after other work. The journal has the days meanwhile. */
export async function rebuildDaysAfter(
  writer: Writer,
  times: readonly number[],
  work: () => Promise<void>,
): Promise<void> {
  const days = wholeDays(
    writer.accountId,
    times.map((atMs) => ({ firstMs: atMs, lastMs: atMs })),
  )
  const tokens: string[] = []
  for (const { fromMs, untilMs } of days) {
    const token = randomUUID()
    tokens.push(token)
    await recordBatch(writer, { token, resource: 'clicks', firstMs: fromMs, lastMs: untilMs - 1, added: [] })
  }
  await work()
  for (const span of days) await rebuildDays(writer, span, 'clicks')
  await clearBatches(writer, tokens)
}
