import { randomUUID } from 'node:crypto'
import { type Insertion, insertRows } from '../sql/write.ts'
import { type NotedBatch, noteBatch, noteForWhoeverIsNext, strikeBatches } from './ledger.ts'
import { untilAnswered } from './patience.ts'
import { LeaseLost, type Writer } from './writer.ts'

/** Rows of one table and the days they touch. */
export type Batch = Omit<Insertion, 'token'> & Omit<NotedBatch, 'token'>

/**
 * Stores a batch and everything that views make of it exactly once: it stands in the ledger from before it is sent
 * until ClickHouse confirmed it, and is sent again with the same token while that is not known.
 * @throws LeaseLost, or the last error when ClickHouse stays away; its days are then rebuilt by the next writer
 */
export async function sendBatch(writer: Writer, batch: Batch): Promise<void> {
  const token = randomUUID()
  await noteBatch(writer, { ...batch, token })
  await untilAnswered(
    'storing a batch',
    () => {
      if (writer.lease.remainingMs() <= 0) throw new LeaseLost()
      return insertRows(writer.stores.clickhouse, { ...batch, token })
    },
    writer,
  )
  if (writer.lease.remainingMs() <= 0) {
    // Another writer may have rebuilt those days while the batch was arriving.
    await noteForWhoeverIsNext(writer, { ...batch, token: randomUUID() })
    throw new LeaseLost()
  }
  await strikeBatches(writer, [token])
}
