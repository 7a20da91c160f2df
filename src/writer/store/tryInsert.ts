import { type Insertion, insertRows } from '../../stores/clickhouse/insert.ts'
import { OutcomeUnknown } from '../fence/fence.ts'
import type { WriteSession } from '../fence/session.ts'

/**
 * Inserts rows; attempts that did not begin are repeated, one that began is not.
 * @returns true when all rows are stored; false when any of them may be; no attempt runs afterwards
 */
export async function tryInsert(session: WriteSession, insertion: Insertion): Promise<boolean> {
  const isStored = await session.retry('storing a batch', async () => {
    try {
      await session.fence.run((bounds) => insertRows(session.stores.clickhouse, insertion, bounds))
      return true
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false
      throw error
    }
  })
  if (isStored) return true
  session.onMessage('ClickHouse did not confirm a batch; checking what it stored.')
  await session.settle()
  return false
}
