import { type Insertion, insertRows } from '../../stores/clickhouse/insert.ts'
import { repairBatches } from '../derived/repairBatches.ts'
import { OutcomeUnknown } from '../fence/fence.ts'
import type { WriteSession } from '../fence/writer.ts'
import { clearBatches, recordBatches } from '../journal/journal.ts'
import { keyText } from '../tables/accountKeys.ts'
import type { Conversion } from '../tables/conversion.ts'
import { copyClickDimensions, copyConvertedClicks } from './attribution.ts'
import type { AwaitedClicks } from './awaitedClicks.ts'
import type { ClickBatch } from './clicks.ts'
import {
  type Change,
  type ConversionOutcome,
  insertionOf,
  journalEntriesOf,
  missingChanges,
  planUpserts,
} from './conversions.ts'
import type { Given } from './givenFields.ts'

/** Rows of claimed accounts that are stored together. */
export interface FlushedRows {
  clicks?: ClickBatch
  /** In the order of their file; modified: dimensions that they lack are copied from the click. */
  conversions?: readonly (Conversion & Given)[]
  /** Whether the conversions have what another installation copied from their clicks. */
  isMoved?: boolean
  /** Shared by all flushes of a feed, which attributes waiting conversions to the clicks of each flush. */
  awaited?: AwaitedClicks
}

/** Rows by outcome, and ids of duplicates that give other values than the stored row. */
export interface FlushOutcome {
  clicks: { inserted: number; duplicates: number; conflicts: string[] }
  conversions: ConversionOutcome
}

/**
 * Stores rows of any number of accounts: one statement records their batches in the journal, each table gets one block, and one
 * statement clears the batches. Conversions find the clicks that are stored with them.
 */
export async function flush(session: WriteSession, rows: FlushedRows): Promise<FlushOutcome> {
  const { clicks, conversions = [], isMoved = false, awaited } = rows
  // Rows of an earlier flush that failed are looked up once no statement can store them any more.
  await session.settle()
  const counts = (await clicks?.removeDuplicates()) ?? { inserted: 0, duplicates: 0 }
  const { changes, outcome } = await planUpserts(session, conversions)
  const late = awaited && clicks ? await planLate(awaited, clicks, changes) : []
  const attribute: typeof copyClickDimensions = async (_, attributed) => {
    await (isMoved ? copyConvertedClicks : copyClickDimensions)(session, attributed)
    awaited?.add(attributed.flatMap(({ row }) => row ?? []))
  }
  await storeAll(session, { clicks, changes: [...changes, ...late], attribute })
  return { clicks: { ...counts, conflicts: (await clicks?.finish(session)) ?? [] }, conversions: outcome }
}

/** @returns changes of the conversions that wait for these clicks and do not change anyway; attribution completes them */
async function planLate(awaited: AwaitedClicks, clicks: ClickBatch, changes: readonly Change[]): Promise<Change[]> {
  const waiting = await awaited.readWaiting(clicks.keys())
  const changed = new Set(changes.map(({ row }) => row && keyText(row)))
  // The version differs from the stored one, so that the change is still missing after an insert of the clicks that failed.
  return waiting.flatMap((before) => (changed.has(keyText(before)) ? [] : { before, row: { ...before, version: 0 } }))
}

/** Stores changes of conversions; after an unknown outcome, what is missing is sent again. */
export async function storeChanges(session: WriteSession, changes: readonly Change[]): Promise<void> {
  await storeAll(session, { changes })
}

interface Facts {
  clicks?: ClickBatch | undefined
  changes: readonly Change[]
  /** Called once the clicks are stored. */
  attribute?: (session: WriteSession, changes: readonly Change[]) => Promise<void>
}

async function storeAll(session: WriteSession, facts: Facts): Promise<void> {
  const { clicks } = facts
  let { changes } = facts
  while (!(await storeOnce(session, { ...facts, changes }))) {
    await clicks?.removeStored()
    changes = await missingChanges(session, changes)
  }
}

/**
 * Sends the blocks in one attempt; views fill the derived tables. The journal holds the batches until ClickHouse has confirmed all of
 * them. After an unknown outcome the statement is ended, and the derived tables are repaired.
 * @returns true when all rows are stored; false when any of them may be: the caller has to look up which
 */
export async function storeOnce(session: WriteSession, { clicks, changes, attribute }: Facts): Promise<boolean> {
  const ofClicks = clicks?.journalEntries() ?? []
  const entries = [...ofClicks, ...journalEntriesOf(changes)]
  if (entries.length === 0) return true
  const storedAt = await recordBatches(session, entries)
  let isStored = true
  if (clicks && ofClicks.length > 0) isStored = await tryInsert(session, clicks.insertion(storedAt))
  if (isStored && changes.length > 0) {
    await attribute?.(session, changes)
    isStored = await tryInsert(session, insertionOf(changes, storedAt))
  }
  if (isStored) await clearBatches(session, entries)
  else await repairBatches(session, entries)
  return isStored
}

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
