import { randomUUID } from 'node:crypto'
import { clearBatches, recordBatch } from '../journal.ts'
import { attributeConversions } from '../store/lateClicks.ts'
import type { Writer } from '../writer.ts'
import { rebuildClickDays, wholeDays } from './clickDays.ts'
import { compareAccount } from './compare.ts'
import { rebuildConversionTables } from './conversionTables.ts'
import { type Difference, isRepairable } from './difference.ts'
import { removeDuplicateClicks } from './duplicateClicks.ts'
import { removeDuplicateConversions } from './duplicateConversions.ts'
import { recover } from './recover.ts'
import { raiseWatermark } from './storedMoments.ts'

/** One repair may bring to light what another one hid, as a click that was missing in the index and is stored twice. */
const roundsMax = 3

/**
 * Makes right what can be made right, while reads go on. What is interrupted is completed by the next writer, by a running
 * server, or by another repair.
 * @returns what still differs
 */
export async function repairAccount(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  await recover(writer)
  let left = [...differences]
  for (let round = 0; round < roundsMax && left.some(isRepairable); round++) {
    await repair(writer, left)
    left = await compareAccount(writer)
  }
  return left
}

async function repair(writer: Writer, differences: readonly Difference[]): Promise<void> {
  const derived = differences.filter((difference) => difference.kind === 'derived')
  const days = new Set(derived.flatMap(({ day }) => (day === null ? [] : [Date.parse(day)])))
  const spans = wholeDays(
    writer.accountId,
    [...days].map((dayMs) => ({ firstMs: dayMs, lastMs: dayMs })),
  )
  for (const difference of differences) {
    if (difference.kind === 'ahead_of_watermark') await raiseWatermark(writer, difference)
  }
  const tokens: string[] = []
  for (const { fromMs, untilMs } of spans) {
    const token = randomUUID()
    tokens.push(token)
    await recordBatch(writer, { token, resource: 'clicks', firstMs: fromMs, lastMs: untilMs - 1, added: [] })
  }
  const twice = (table: string) => differences.some((one) => one.kind === 'duplicate_ids' && one.table === table)
  if (twice('clicks')) await removeDuplicateClicks(writer)
  if (twice('conversions')) await removeDuplicateConversions(writer)
  for (const span of spans) await rebuildClickDays(writer, span)
  const areConversionsChanged = twice('conversions') || derived.some(({ day }) => day === null)
  if (areConversionsChanged) await rebuildConversionTables(writer)
  if (twice('clicks') || differences.some(({ kind }) => kind === 'unattributed')) await attributeConversions(writer)
  await clearBatches(writer, tokens)
}
