import { type NamedTable, namedTables } from '../../../schema/metadata.ts'
import type { RowTable } from '../../query/attributes.ts'
import { repairBatches } from '../derived/repairBatches.ts'
import type { WriteSession } from '../fence/session.ts'
import { type ChangedRows, clearBatches, recordRows } from '../journal/journal.ts'
import { keyText } from '../tables/accountKeys.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Cost } from '../tables/cost.ts'
import { copyClickDimensions, copyConvertedClicks, type IndexedClick, readIndexedClicks } from './attribution.ts'
import type { AwaitedClicks } from './awaitedClicks.ts'
import { assignOwners } from './campaignOwners.ts'
import { type Change, changedRowsOf, findUpserts, insertionOf, missingChanges } from './changes.ts'
import { conversionTable, costTable } from './changingTables.ts'
import type { ClickBatch } from './clicks.ts'
import type { Given } from './givenFields.ts'
import { type MetadataRow, storeMetadata } from './metadata.ts'
import { type EventBatch, storePixelEvents } from './pixelEvents.ts'
import type { RowOutcome } from './rowOutcome.ts'

/** Rows of claimed accounts that are stored together. */
export interface FlushedRows {
  /** Rows without dates get `nowMs`, epoch milliseconds. */
  metadata?: { nowMs: number; rows: Partial<Record<NamedTable, readonly MetadataRow[]>> }
  clicks?: ClickBatch
  /** In the order of their file; modified: dimensions that they lack are copied from the click. */
  conversions?: readonly (Conversion & Given)[]
  /** In the order of their file. */
  costs?: readonly (Cost & Given)[]
  /** Modified: those without an owner get the owner of their campaign. */
  events?: EventBatch
  /** Whether the rows have what another installation copied from their clicks and campaigns. */
  isMoved?: boolean
  /** Shared by all flushes of a feed, which attributes waiting conversions to the clicks of each flush. */
  awaited?: AwaitedClicks
}

/** The outcomes of the rows of each table, in their order; and the accounts with stored clicks of erased visitors, which are listed. */
export type FlushOutcomes = Partial<Record<NamedTable, readonly RowOutcome[]>> &
  Record<RowTable | 'pixel_events', readonly RowOutcome[]> & { toErase: readonly string[] }

/**
 * Stores rows of any number of accounts: one statement records their batches in the journal, each table gets one block, and one
 * statement clears the batches. Conversions find the clicks, and events the campaigns, that are stored with them. The outcomes are those
 * before the first attempt: a row that an attempt of unknown outcome has stored is inserted.
 */
export async function flush(session: WriteSession, flushed: FlushedRows): Promise<FlushOutcomes> {
  const { metadata, clicks, conversions = [], costs = [], events, isMoved = false, awaited } = flushed
  const names: Partial<Record<NamedTable, readonly RowOutcome[]>> = {}
  for (const table of namedTables) {
    const rows = metadata?.rows[table] ?? []
    if (metadata && rows.length > 0) names[table] = await storeMetadata(session, table, rows, metadata.nowMs)
  }
  const finding = [findUpserts(session, conversionTable, conversions), findUpserts(session, costTable, costs)] as const
  const removing = clicks?.removeStored()
  // A look-up that outlives a failed flush would fill the filter of known ids beside the next flush.
  await Promise.allSettled([...finding, removing])
  const [{ changes, outcomes }, ofCosts] = await Promise.all(finding)
  const timesByAccount = (await removing) ?? []
  const toErase = (await clicks?.listErased(session)) ?? []
  const late = awaited && clicks ? await changesOfWaiting(awaited, clicks, changes) : []
  const attribute: FactsToStore['attribute'] = async (attributed, indexed) => {
    if (isMoved) await copyConvertedClicks(session, indexed)
    else await copyClickDimensions(session, attributed, indexed)
    awaited?.addClicksOf(attributed.flatMap(({ row }) => row ?? []))
  }
  const facts = { changes: [...changes, ...late], costs: ofCosts.changes, attribute }
  await storeUntilConfirmed(session, { ...facts, clicks: clicks && { batch: clicks, timesByAccount } })
  if (events && !isMoved) await assignOwners(session, events.rows)
  return {
    ...names,
    clicks: (await clicks?.finish(session)) ?? [],
    conversions: outcomes,
    costs: ofCosts.outcomes,
    pixel_events: events ? await storePixelEvents(session, events) : [],
    toErase,
  }
}

/** @returns changes of the conversions that wait for these clicks and do not change anyway; attribution completes them */
async function changesOfWaiting(
  awaited: AwaitedClicks,
  clicks: ClickBatch,
  changes: readonly Change<Conversion>[],
): Promise<Change<Conversion>[]> {
  const waiting = await awaited.readWaiting(clicks.keys())
  const changed = new Set(changes.map(({ row }) => row && keyText(row)))
  // The version differs from the stored one, so that the change is still missing after an insert of the clicks that failed.
  return waiting.flatMap((before) => (changed.has(keyText(before)) ? [] : { before, row: { ...before, version: 0 } }))
}

interface FactsToStore {
  /** `timesByAccount`: the times of all clicks of the batch. */
  clicks?: { batch: ClickBatch; timesByAccount: readonly ChangedRows[] } | undefined
  /** Of conversions. */
  changes: readonly Change<Conversion>[]
  costs?: readonly Change<Cost>[]
  /** Called once the clicks are stored. @param indexed the clicks of the changes */
  attribute?: (changes: readonly Change<Conversion>[], indexed: readonly IndexedClick[]) => Promise<void>
}

/** Tries to store rows and changes until they are confirmed; after an unknown outcome, what is missing is sent again. */
export async function storeUntilConfirmed(session: WriteSession, facts: FactsToStore): Promise<void> {
  let { clicks, changes, costs = [] } = facts
  while (!(await tryStore(session, { ...facts, clicks, changes, costs }))) {
    if (clicks) clicks = { ...clicks, timesByAccount: await clicks.batch.removeStoredByAttempt() }
    changes = await missingChanges(session, conversionTable, changes)
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
  { clicks, changes, costs = [], attribute }: FactsToStore,
): Promise<boolean> {
  const clickTimes = clicks?.timesByAccount ?? []
  const changed = [...clickTimes, ...changedRowsOf(conversionTable, changes), ...changedRowsOf(costTable, costs)]
  if (changed.length === 0) return true
  // Read while the clicks of this batch are stored.
  const indexed =
    attribute && changes.length > 0 ? readIndexedClicks(session, changes, clicks?.batch) : Promise.resolve([])
  indexed.catch(() => {})
  const { entries, storedAt } = await recordRows(session, changed)
  let isStored = true
  if (clicks && clickTimes.length > 0) isStored = await session.tryInsert(clicks.batch.insertion(storedAt))
  if (isStored && changes.length > 0) {
    await attribute?.(changes, await indexed)
    isStored = await session.tryInsert(insertionOf(conversionTable, changes, storedAt))
  }
  if (isStored && costs.length > 0) isStored = await session.tryInsert(insertionOf(costTable, costs, storedAt))
  if (isStored) await clearBatches(session, entries)
  else await repairBatches(session, entries)
  return isStored
}
