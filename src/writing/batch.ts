import { randomUUID } from 'node:crypto'
import { untilAnswered } from '../patience.ts'
import { type Insertion, insertRows } from '../sql/write.ts'
import { mustStillHold, type NotedBatch, noteBatch, strikeBatches } from './ledger.ts'
import type { Writer } from './writer.ts'

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
    async () => {
      await writer.lease.confirm()
      return await insertRows(writer.stores.clickhouse, { ...batch, token })
    },
    writer,
  )
  // Another writer may have rebuilt those days while the batch was arriving.
  await mustStillHold(writer, batch)
  await strikeBatches(writer, [token])
}
