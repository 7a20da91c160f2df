import { type IndexedClick, readIndexedClicks } from '../attribution/attribution.ts'
import { repairBatches } from '../derived/repairBatches.ts'
import type { WriteSession } from '../fence/session.ts'
import { clearBatches, recordBatches } from '../journal/journal.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Cost } from '../tables/cost.ts'
import { type Change, entriesOf, insertionOf, missingChanges } from '../upserts/changes.ts'
import { conversionTable, costTable } from '../upserts/changingTables.ts'
import type { ClickBatch } from './clicks.ts'

/** Rows of clicks, conversions and costs that are stored together. */
export interface FactsToStore {
  clicks?: ClickBatch
  conversions?: readonly Change<Conversion>[]
  costs?: readonly Change<Cost>[]
  /** Called once the clicks are stored. @param indexed the clicks of the conversions */
  attribute?: (conversions: readonly Change<Conversion>[], indexed: readonly IndexedClick[]) => Promise<void>
}

/** Tries to store rows and changes until they are confirmed; after an unknown outcome, what is missing is sent again. */
export async function storeUntilConfirmed(session: WriteSession, facts: FactsToStore): Promise<void> {
  let { conversions = [], costs = [] } = facts
  // Version 0 means not sent: no stored row has it, and an insert before it may fail.
  for (const { row } of [...conversions, ...costs]) if (row) row.version = 0
  while (!(await tryStore(session, { ...facts, conversions, costs }))) {
    await facts.clicks?.dropStored('sent')
    conversions = await missingChanges(session, conversionTable, conversions)
    costs = await missingChanges(session, costTable, costs)
  }
}

/**
 * Sends the blocks in one attempt; views fill the derived tables. The journal holds the batches until ClickHouse has confirmed all of
 * them. After an unknown outcome the statement is ended, and the derived tables are repaired.
 * @returns true when all rows are stored; false when any of them may be: the caller has to look up which
 */
export async function tryStore(
  session: WriteSession,
  { clicks, conversions = [], costs = [], attribute }: FactsToStore,
): Promise<boolean> {
  const ofClicks = clicks?.entries() ?? []
  const entries = [...ofClicks, ...entriesOf(conversionTable, conversions), ...entriesOf(costTable, costs)]
  if (entries.length === 0) return true
  // Read while the clicks of this batch are stored.
  const indexed =
    attribute && conversions.length > 0 ? readIndexedClicks(session, conversions, clicks) : Promise.resolve([])
  indexed.catch(() => {})
  const storedAt = await recordBatches(session, entries)
  let isStored = true
  if (clicks && ofClicks.length > 0) isStored = await session.tryInsert(clicks.insertion(storedAt))
  if (isStored && conversions.length > 0) {
    await attribute?.(conversions, await indexed)
    isStored = await session.tryInsert(insertionOf(conversionTable, conversions, storedAt))
  }
  if (isStored && costs.length > 0) isStored = await session.tryInsert(insertionOf(costTable, costs, storedAt))
  if (isStored) await clearBatches(session, entries)
  else await repairBatches(session, entries)
  return isStored
}
