import { repairBatches } from '../derived/repairBatches.ts'
import { completeErasures } from '../erasure/completeErasures.ts'
import type { Writer, WriteSession } from '../fence/session.ts'
import { isTaskOpen } from '../journal/accountTasks.ts'
import { fillDataThrough, readLeftovers } from '../journal/journal.ts'
import { completeRemoval } from '../retention/completeRemoval.ts'
import { accountsOf } from '../tables/accountKeys.ts'
import { attributeWaitingConversions, attributeWrongConversions } from './reattribution.ts'

/**
 * Completes the work of an interrupted writer: erasures, removals, batches that are stored in part, attribution. Cheap without any.
 * @returns numbers of repaired batches, attributed conversions, erased rows and removed rows
 */
export async function recoverAccount(writer: Writer) {
  const { accountId } = writer
  await writer.waitForEarlierStatements()
  // First: a change of a conversion writes its stored fields again. Imports do not wait for queries that read replaced parts.
  const erased = await completeErasures(writer, { ifStillRead: 'leave' })
  const removed = await completeRemoval(writer)
  if (removed.clicks + removed.events > 0) {
    const rows = `clicks removed: ${removed.clicks}, events removed: ${removed.events}`
    writer.onMessage(`An earlier removal of months of account ${accountId} was interrupted and is complete; ${rows}.`)
  }
  const { batches, attributed } = await recoverImports(writer, [accountId])
  const corrected = (await isTaskOpen(writer, 'attribute_conversions')) ? await attributeWrongConversions(writer) : 0
  return {
    batches,
    attributed: attributed + corrected,
    erased: erased.clicks + erased.conversions + erased.events,
    removed: removed.clicks + removed.events,
  }
}

/**
 * Completes interrupted imports of accounts without other interrupted work, with one statement per table for all of them.
 * @returns numbers of repaired batches and attributed conversions
 */
export async function recoverImports(session: WriteSession, accountIds: readonly string[]) {
  await fillDataThrough(session, accountIds)
  const leftovers = await readLeftovers(session, accountIds)
  if (leftovers.length > 0) {
    const ids = accountsOf(leftovers)
    const into = ids.length === 1 ? `account ${ids[0]}` : `${ids.length} accounts`
    session.onMessage(`An earlier import into ${into} was interrupted; repairing its batches.`)
    await repairBatches(session, leftovers)
  }
  return { batches: leftovers.length, attributed: await attributeWaitingConversions(session, accountIds) }
}
