import { completeTask, openTasks } from '../accountTasks.ts'
import { settle } from '../fence.ts'
import { readLeftovers } from '../journal.ts'
import { attributeConversions, attributeLateClicks } from '../store/lateClicks.ts'
import { compareRowCounts } from '../storedRows.ts'
import type { Writer } from '../writer.ts'
import { repairBatches } from './repairBatches.ts'

/** What an interrupted writer had left: unconfirmed batches, and conversions that were not attributed to their click. */
export interface Recovered {
  batches: number
  attributed: number
}

/**
 * Repairs what an earlier writer left unfinished: a batch that stands in the journal may be in its table and
 * not, or not wholly, in what views make of it, or the other way round; and conversions whose click has arrived may not
 * have been joined with it. Cheap when nothing is left over.
 * @throws the last error when a store stays unavailable; the next writer begins again
 */
export async function recover(writer: Writer): Promise<Recovered> {
  await settle(writer)
  const leftovers = await readLeftovers(writer)
  if (leftovers.length > 0) {
    writer.onMessage(
      `An earlier import into account ${writer.accountId} was cut short; bringing its days back in order.`,
    )
    await repairBatches(writer, leftovers)
  }
  const tasks = await openTasks(writer)
  if (tasks.has('count_stored_rows')) {
    await compareRowCounts(writer)
    await completeTask(writer, 'count_stored_rows')
  }
  const again = tasks.has('attribute_conversions') ? await attributeConversions(writer) : 0
  return { batches: leftovers.length, attributed: again + (await attributeLateClicks(writer)) }
}
