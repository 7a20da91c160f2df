import { randomUUID } from 'node:crypto'
import { type Insertion, insertRows } from '../stores/clickhouse/insert.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import { OutcomeUnknown, settle } from './fence.ts'
import { clearBatches, type JournalEntry, recordBatch } from './journal.ts'
import { repairBatches } from './repair/repairBatches.ts'
import type { Writer } from './writer.ts'

/** Rows of one table and the days they touch. */
export type Batch = Omit<Insertion, 'storedAtMs'> & Omit<JournalEntry, 'token'>

/**
 * Stores a batch and everything that views make of it. It stands in the journal from before it is sent until ClickHouse
 * has confirmed it. A batch whose outcome is unknown is not sent again: its statement is ended, and what is made of the
 * rows is repaired from those that are stored.
 * @returns whether all of it is stored; false: any of its rows may be, and the caller has to look which
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable; the next writer then repairs its days
 */
export async function sendBatch(writer: Writer, batch: Batch): Promise<boolean> {
  const noted: JournalEntry = { ...batch, token: randomUUID() }
  const storedAtMs = await recordBatch(writer, noted)
  const isStored = await insertOnce(writer, { ...batch, storedAtMs })
  if (isStored) await clearBatches(writer, [noted.token])
  else await repairBatches(writer, [noted])
  return isStored
}

/**
 * Inserts rows, in one attempt that ClickHouse began.
 * @returns whether all of them are stored; false: any of them may be, and the attempt has ended
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function insertOnce(writer: Writer, insertion: Insertion): Promise<boolean> {
  if (await retryWhileUnavailable('storing a batch', () => attempt(writer, insertion), writer)) return true
  writer.onMessage('ClickHouse did not confirm a batch; checking what it stored.')
  await settle(writer)
  return false
}

async function attempt({ fence, stores }: Writer, insertion: Insertion): Promise<boolean> {
  try {
    await fence.run((bounds) => insertRows(stores.clickhouse, insertion, bounds))
    return true
  } catch (error) {
    if (error instanceof OutcomeUnknown) return false
    throw error
  }
}
