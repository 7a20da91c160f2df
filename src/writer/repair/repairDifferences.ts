import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { rebuildClickDays, wholeDays } from '../derived/clickDays.ts'
import { rebuildConversionTables } from '../derived/conversionTables.ts'
import { eraseAgain } from '../erasure/eraseRows.ts'
import { clearBatches, recordBatch } from '../journal/journal.ts'
import type { Writer } from '../lease/writer.ts'
import { removeAgain } from '../retention/completeRemoval.ts'
import { rebuildRestoredMonths } from '../retention/removedMonths.ts'
import { attributeConversions } from '../store/lateClicks.ts'
import { raiseWatermark } from './aheadOfWatermark.ts'
import { removeWrongCopies } from './clickCopies.ts'
import { emptyWrongTexts } from './clickTexts.ts'
import { type Difference, isRepairable } from './difference.ts'
import { removeDuplicateClicks } from './duplicateClicks.ts'
import { removeDuplicateConversions } from './duplicateConversions.ts'
import { findDifferences } from './findDifferences.ts'
import { recoverAccount } from './recoverAccount.ts'

/** One repair may reveal another difference: a click that was missing in the index may also be stored twice. */
const roundsMax = 3

/**
 * Corrects all repairable differences while reads continue. If all confirmed clicks of a month are missing, it does not change
 * the sums and the index of its clicks. An interrupted repair is completed by the next writer, by a running server, or by another repair.
 * @returns the remaining differences
 */
export async function repairDifferences(writer: Writer, differences: readonly Difference[]): Promise<Difference[]> {
  await recoverAccount(writer)
  let remaining = [...differences]
  for (let round = 0; round < roundsMax && remaining.some(isRepairable); round++) {
    await repairOnce(writer, remaining)
    const before = remaining
    remaining = await findDifferences(writer)
    // What remains is not repairable, or belongs to a month without any of its confirmed clicks.
    if (isDeepStrictEqual(remaining, before)) break
  }
  return remaining
}

async function repairOnce(writer: Writer, differences: readonly Difference[]): Promise<void> {
  const derived = differences.filter((difference) => difference.kind === 'derived')
  const days = new Set(derived.flatMap(({ day }) => (day === null ? [] : [Date.parse(day)])))
  const spans = wholeDays(
    writer.accountId,
    [...days].map((dayMs) => ({ firstMs: dayMs, lastMs: dayMs })),
  )
  for (const difference of differences) {
    if (difference.kind === 'ahead_of_watermark') await raiseWatermark(writer, difference)
  }
  // First: other repairs write stored fields again.
  if (differences.some(({ kind }) => kind === 'not_erased')) await eraseAgain(writer)
  if (differences.some(({ kind }) => kind === 'not_removed')) {
    await rebuildRestoredMonths(writer)
    await removeAgain(writer)
  }
  const tokens: string[] = []
  for (const { fromMs, untilMs } of spans) {
    const token = randomUUID()
    tokens.push(token)
    await recordBatch(writer, { token, resource: 'clicks', firstMs: fromMs, lastMs: untilMs - 1, added: [] })
  }
  const hasDuplicates = (table: string) =>
    differences.some((difference) => difference.kind === 'duplicate_ids' && difference.table === table)
  if (hasDuplicates('clicks')) await removeDuplicateClicks(writer)
  if (hasDuplicates('conversions')) await removeDuplicateConversions(writer)
  for (const span of spans) await rebuildClickDays(writer, span)
  // Before conversions copy values from them.
  if (differences.some(({ kind }) => kind === 'wrong_copies')) await removeWrongCopies(writer)
  if (differences.some(({ kind }) => kind === 'wrong_texts')) await emptyWrongTexts(writer)
  const areConversionTablesWrong = hasDuplicates('conversions') || derived.some(({ day }) => day === null)
  if (areConversionTablesWrong) await rebuildConversionTables(writer)
  const areConversionsUnattributed = differences.some(({ kind }) => kind === 'unattributed')
  if (hasDuplicates('clicks') || areConversionsUnattributed) await attributeConversions(writer)
  await clearBatches(writer, tokens)
}
