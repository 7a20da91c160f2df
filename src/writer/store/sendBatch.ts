import { randomUUID } from 'node:crypto'
import { type Insertion, insertRows } from '../../stores/clickhouse/insert.ts'
import { repairBatches } from '../derived/repairBatches.ts'
import { OutcomeUnknown } from '../fence/fence.ts'
import type { Writer } from '../fence/writer.ts'
import { clearBatches, type JournalEntry, recordBatch } from '../journal/journal.ts'

export type Batch = Omit<Insertion, 'storedAtMs'> & Omit<JournalEntry, 'token'>

/**
 * Stores a batch; views fill the derived tables. The journal holds it until ClickHouse has confirmed it. A batch of unknown
 * outcome is not sent again: its statement is ended, and the derived tables are repaired.
 * @returns true when all rows are stored; false when any of them may be: the caller has to look up which
 */
export async function sendBatch(writer: Writer, batch: Batch): Promise<boolean> {
  const entry: JournalEntry = { ...batch, token: randomUUID() }
  const storedAtMs = await recordBatch(writer, entry)
  const isStored = await tryInsert(writer, { ...batch, storedAtMs })
  if (isStored) await clearBatches(writer, [entry.token])
  else await repairBatches(writer, [entry])
  return isStored
}

/**
 * Inserts rows; attempts that did not begin are repeated, one that began is not.
 * @returns true when all rows are stored; false when any of them may be; no attempt runs afterwards
 */
export async function tryInsert(writer: Writer, insertion: Insertion): Promise<boolean> {
  const isStored = await writer.retry('storing a batch', async () => {
    try {
      await writer.fence.run((bounds) => insertRows(writer.stores.clickhouse, insertion, bounds))
      return true
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false
      throw error
    }
  })
  if (isStored) return true
  writer.onMessage('ClickHouse did not confirm a batch; checking what it stored.')
  await writer.settle()
  return false
}
