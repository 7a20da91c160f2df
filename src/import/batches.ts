import { completeErasures } from '../writer/erasure/completeErasures.ts'
import type { Writer } from '../writer/fence/session.ts'
import { attributeWaitingConversions } from '../writer/repair/reattribution.ts'
import { openLookUps, RowBatch, type RowToStore, type Table } from '../writer/store/rowBatch.ts'
import { comparedDuplicates } from '../writer/tables/givenFields.ts'
import { detailOf } from '../writer/upserts/rowOutcome.ts'
import { countUnknownCampaigns } from './campaigns.ts'
import type { ImportOptions } from './options.ts'
import type { RawRow } from './parsers/ndjsonParser.ts'
import { RowError } from './readers/rowError.ts'
import type { Rejects } from './rejects.ts'
import { importTables } from './resourceNames.ts'
import { conflictWarning, type Tally } from './tally.ts'

export type Batches = ReturnType<typeof openBatches>

/**
 * Characters of the file that one batch may hold. It ends batches of very long rows only: 50,000 rows of common length are
 * far below it.
 */
const charactersMax = 64 << 20

/** Rows of one batch, which are decoded until it is stored; clicks are encoded, and limited by their bytes. */
const rowsMax: Partial<Record<Table, number>> = {
  clicks: Number.POSITIVE_INFINITY,
  conversions: 10_000,
  costs: 10_000,
  pixel_events: 20_000,
}
const metadataRowsMax = 50_000

const shownConflicts = 3

/** Rows of standard input wait no longer for a full batch, milliseconds. */
const visibleMs = 2_000

/**
 * Stores the rows of an import in two batches: one is filled while the other one is stored.
 * @param tally counts the outcomes
 * @param rejects receives rows that the stored rows do not allow
 */
export function openBatches(
  writer: Writer,
  { resource, nowMs, isMoved = false }: ImportOptions,
  tally: Tally,
  rejects: Rejects,
) {
  const table = importTables[resource]
  const lookUps = openLookUps(writer, { rows: comparedDuplicates })
  const campaigns = countUnknownCampaigns(writer)
  let filling = new RowBatch(writer, lookUps, isMoved)
  let stored = new RowBatch(writer, lookUps, isMoved)
  /** Characters of the rows of the batch that is being filled. */
  let characters = 0
  /** These rows, if the stored rows may not allow them. */
  let raw: RawRow[] = []
  let storing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isToErase = false
  /** When the latest of the replaced costs was stored, epoch milliseconds. */
  let replacedMs = 0
  /** The first ids. */
  const conflicting: string[] = []

  async function store(batch: RowBatch, rows: readonly RawRow[]): Promise<void> {
    await campaigns.lookUp()
    const { outcomes, conflicts, toErase, replacedCostsMs } = await batch.store(nowMs)
    isToErase ||= toErase.length > 0
    replacedMs = Math.max(replacedMs, replacedCostsMs)
    for (const [index, outcome] of outcomes.entries()) {
      const reason = detailOf('rejected', outcome)
      if (reason !== undefined) await rejects.add(rows[index] as RawRow, new RowError(reason))
      else tally[outcome === 'inserted' || outcome === 'updated' ? outcome : 'duplicates'] += 1
      if (outcome === 'older') tally.older += 1
    }
    tally.conflicting += conflicts.length
    conflicting.push(...conflicts.slice(0, shownConflicts - conflicting.length))
  }

  /**
   * Starts to store the batch that is being filled once the other one is stored, and then fills the other one.
   * @throws the error of the batch that was stored before; the next call throws the error of this batch
   */
  async function storeFilling(): Promise<void> {
    const before = storing
    await before
    // A concurrent call has begun to store these rows.
    if (storing !== before) return
    storing = store(filling, raw)
    // The next await of `storing` throws a failure; this handler only prevents an unhandled rejection before it.
    storing.catch(() => {})
    raw = []
    ;[filling, stored] = [stored, filling]
    characters = 0
  }

  return {
    add(row: RowToStore, rawRow: RawRow): void {
      filling.add(row)
      campaigns.add(row)
      characters += rawRow.text.length
      if (resource === 'conversion-statuses') raw.push(rawRow)
    },

    get isFull(): boolean {
      return filling.isFull || filling.size >= (rowsMax[table] ?? metadataRowsMax) || characters >= charactersMax
    },

    storeFilling,

    /** From now on rows do not wait for a full batch. */
    storeRegularly(onFailure: (error: unknown) => void): void {
      timer = setInterval(() => filling.size > 0 && storeFilling().catch(onFailure), visibleMs)
    },

    /**
     * Stores the last rows, and completes the work that follows from all of them.
     * @param warn receives what senders may have done wrong
     * @returns when the latest of the replaced costs was stored, epoch milliseconds; 0: none was replaced
     */
    async end(warn: (line: string) => void): Promise<number> {
      clearInterval(timer)
      await storeFilling()
      await storing
      if (table === 'clicks') await attributeWaitingConversions(writer, [writer.accountId])
      if (isToErase) await completeErasures(writer, { ifStillRead: 'leave' })
      const unknown = campaigns.warning()
      if (unknown !== undefined) warn(unknown)
      // Rows of an exported account still have what was erased since the export.
      if (tally.conflicting > 0 && !isMoved) warn(conflictWarning(resource, tally.conflicting, conflicting, nowMs))
      return replacedMs
    },

    /** Waits until no batch is being stored: the lease must not be released before. */
    async close() {
      clearInterval(timer)
      await storing.catch(() => {})
      // A call of `storeFilling` that waited for this batch has begun to store another one.
      await storing.catch(() => {})
    },
  }
}
