import { untilAnswered } from '../patience.ts'
import { endRepairs } from '../rollups/differences.ts'
import { ch, texts } from '../sql/fragment.ts'
import { runOnEveryNode } from '../sql/write.ts'
import { rebuildConversionTables } from './conversionTables.ts'
import { rebuildClickDays, rebuildSums, wholeDays } from './days.ts'
import { leftoverBatches, type NotedBatch, strikeBatches } from './ledger.ts'
import { attachWaiting } from './waiting.ts'
import type { Writer } from './writer.ts'

/** What an interrupted writer had left: unconfirmed batches, and conversions that were not attributed to their click. */
export interface Recovered {
  batches: number
  attributed: number
}

/**
 * Brings back in order what a writer before us left half done: a batch that stands in the ledger may be in its table and
 * not, or not wholly, in what views make of it, or the other way round; and conversions whose click has arrived may not
 * have been joined with it. Cheap when nothing is left over.
 * @throws the last error when a store stays away; the next writer begins again
 */
export async function recover(writer: Writer): Promise<Recovered> {
  const { stores, accountId } = writer
  await untilAnswered('ending repairs of an earlier writer', () => endRepairs(stores.clickhouse, accountId), writer)
  const leftovers = await leftoverBatches(writer)
  if (leftovers.length > 0) await rebuild(writer, leftovers)
  return { batches: leftovers.length, attributed: await attachWaiting(writer) }
}

async function rebuild(writer: Writer, leftovers: readonly NotedBatch[]): Promise<void> {
  writer.say(`An earlier import into account ${writer.accountId} was cut short; bringing its days back in order.`)
  const tokens = leftovers.map(({ token }) => token)
  await endInserts(writer, tokens)
  const daysOf = (rows: NotedBatch['resource']) =>
    wholeDays(
      writer.accountId,
      leftovers.filter(({ resource }) => resource === rows),
    )
  for (const span of daysOf('clicks')) await rebuildClickDays(writer, span)
  const conversionDays = daysOf('conversions')
  for (const span of conversionDays) await rebuildSums(writer, span)
  if (conversionDays.length > 0) await rebuildConversionTables(writer)
  await strikeBatches(writer, tokens)
}

/** Ends inserts that outlived their sender, wherever they run, so that nothing arrives once we have looked. */
async function endInserts({ stores, ...patience }: Writer, tokens: readonly string[]): Promise<void> {
  const statement = ch`KILL QUERY WHERE initial_query_id IN ${texts(tokens)} SYNC`
  await untilAnswered(
    'ending inserts of an earlier import',
    () => runOnEveryNode(stores.clickhouse, statement, 'recover.end_inserts'),
    patience,
  )
}
