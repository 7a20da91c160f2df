import { type NamedTable, namedTables } from '../../../schema/metadata.ts'
import { copyClickDimensions, copyConvertedClicks } from '../attribution/attribution.ts'
import type { AwaitedClicks } from '../attribution/awaitedClicks.ts'
import type { ListedClick } from '../erasure/erasures.ts'
import type { WriteSession } from '../fence/session.ts'
import { ExistingKeys, type KeySource } from '../storedKeys/existingKeys.ts'
import type { Filling } from '../storedKeys/keyFilter.ts'
import { keyText } from '../tables/accountKeys.ts'
import type { Click } from '../tables/click.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Cost } from '../tables/cost.ts'
import type { Budget, Given } from '../tables/givenFields.ts'
import type { PixelEvent } from '../tables/pixelEvent.ts'
import { type Change, findUpserts } from '../upserts/changes.ts'
import { conversionTable, costTable, type GivenRow } from '../upserts/changingTables.ts'
import { detailOf, type RowOutcome } from '../upserts/rowOutcome.ts'
import { assignOwners } from './campaignOwners.ts'
import { ClickBatch, storedClicks } from './clicks.ts'
import { type FactsToStore, storeUntilConfirmed } from './facts.ts'
import { type MetadataRow, storeMetadata } from './metadata.ts'
import { storedPixelEvents, storePixelEvents } from './pixelEvents.ts'

/** The rows of each table as they are stored. */
interface RowsByTable extends Record<NamedTable, MetadataRow[]> {
  clicks: (Click & Given & ListedClick)[]
  conversions: GivenRow<Conversion>[]
  costs: (Cost & Given)[]
  pixel_events: (PixelEvent & Given)[]
}
export type Table = keyof RowsByTable
export type RowToStore = { [Name in Table]: { table: Name; row: RowsByTable[Name][number] } }[Table]

/** What is known of the stored rows; shared by all batches of a session. */
export interface LookUps {
  clicks: ExistingKeys
  events: ExistingKeys
  /** Duplicates that may still be compared. */
  compared: Budget
  /** Attributes waiting conversions to the clicks of each batch. */
  awaited?: AwaitedClicks
}

export function openLookUps(session: WriteSession, compared: Budget, filling: Filling = 'await'): LookUps {
  const existing = (source: KeySource) => new ExistingKeys(session, source, filling)
  return { clicks: existing(storedClicks), events: existing(storedPixelEvents), compared }
}

/** The outcomes of the rows of each table, in their order. */
type Outcomes = Partial<Record<Table, readonly RowOutcome[]>>

/**
 * Rows of any number of claimed accounts, in the order in which they were added. They are stored by one flush: one statement records their
 * batches in the journal, each table gets one block, and one statement clears the batches. Conversions find the clicks, and events the
 * campaigns, that are stored with them. Empty, and reusable, once the rows are stored.
 */
export class RowBatch {
  readonly #session: WriteSession
  readonly #lookUps: LookUps
  readonly #isMoved: boolean
  readonly #clicks: ClickBatch
  /** Without the clicks. */
  #rows = noRows()
  /** Where each row is: its table, and its position among the rows of the table. */
  #places: { table: Table; position: number }[] = []

  /** @param isMoved whether the rows have what another installation copied from their clicks and campaigns */
  constructor(session: WriteSession, lookUps: LookUps, isMoved = false) {
    this.#session = session
    this.#lookUps = lookUps
    this.#isMoved = isMoved
    this.#clicks = new ClickBatch(lookUps.clicks, lookUps.compared)
  }

  get size(): number {
    return this.#places.length
  }

  /** Whether its clicks are as many as one insert should have. */
  get isFull(): boolean {
    return this.#clicks.isFull
  }

  add({ table, row }: RowToStore): void {
    const position = table === 'clicks' ? this.#clicks.add(row) : (this.#rows[table] as (typeof row)[]).push(row) - 1
    this.#places.push({ table, position })
  }

  /**
   * The outcomes are those before the first attempt: a row that an attempt of unknown outcome has stored is inserted.
   * @param nowMs dates of metadata without dates, epoch milliseconds
   * @returns the outcome of each row, the ids with a conflict, the accounts with stored clicks of erased visitors, which are
   *   listed: the caller completes their erasures; and when the latest of the replaced costs was stored, epoch milliseconds
   */
  async store(nowMs: number) {
    const [rows, places] = [this.#rows, this.#places]
    this.#rows = noRows()
    this.#places = []
    if (places.length === 0) return { outcomes: [], conflicts: [], toErase: [], replacedCostsMs: 0 }
    const { toErase, replacedCostsMs, ...stored } = await this.#flush(rows, nowMs)
    const outcomes = places.map(({ table, position }): RowOutcome => {
      const outcome = stored[table]?.[position]
      // A sender drops a row that has an outcome.
      if (outcome === undefined) throw new Error(`A row of ${table} has no outcome.`)
      return outcome
    })
    const others = places.flatMap(({ table, position }, index) => {
      const row = rows[table][position]
      return row && detailOf('conflict', outcomes[index]) !== undefined
        ? row.id || (row as Conversion).transactionId
        : []
    })
    return { outcomes, conflicts: [...this.#clicks.conflicts, ...others], toErase, replacedCostsMs }
  }

  async #flush(rows: RowsByTable, nowMs: number) {
    const [session, clicks, isMoved] = [this.#session, this.#clicks, this.#isMoved]
    const { awaited } = this.#lookUps
    const outcomes: Outcomes = {}
    for (const table of namedTables)
      if (rows[table].length > 0) outcomes[table] = await storeMetadata(session, table, rows[table], nowMs)
    const finding = [
      findUpserts(session, conversionTable, rows.conversions),
      findUpserts(session, costTable, rows.costs),
    ] as const
    const dropping = clicks.dropStored('duplicates')
    // A look-up that outlives a failed flush would fill the filter of known ids beside the next flush.
    await Promise.allSettled([...finding, dropping])
    const [ofConversions, ofCosts] = await Promise.all(finding)
    await dropping
    const toErase = await clicks.listErased(session)
    const waiting = awaited ? await changesOfWaiting(awaited, clicks, ofConversions.changes) : []
    const attribute: FactsToStore['attribute'] = async (attributed, indexed) => {
      if (isMoved) await copyConvertedClicks(session, indexed)
      else await copyClickDimensions(session, attributed, indexed)
      awaited?.addClicksOf(attributed.flatMap(({ row }) => row ?? []))
    }
    const conversions = [...ofConversions.changes, ...waiting]
    await storeUntilConfirmed(session, { clicks, conversions, costs: ofCosts.changes, attribute })
    if (!isMoved) await assignOwners(session, rows.pixel_events)
    return {
      ...outcomes,
      clicks: await clicks.finish(session),
      conversions: ofConversions.outcomes,
      costs: ofCosts.outcomes,
      pixel_events: await storePixelEvents(session, rows.pixel_events, this.#lookUps),
      toErase,
      // A version is the time of its write, in microseconds.
      replacedCostsMs: ofCosts.changes.reduce((latest, { before, row }) => {
        const isOther = before && costTable.differingField(row, before) !== undefined
        return Math.max(latest, isOther ? before.version / 1_000 : 0)
      }, 0),
    }
  }
}

/** @returns changes of the conversions that wait for these clicks and do not change anyway; attribution completes them */
async function changesOfWaiting(awaited: AwaitedClicks, clicks: ClickBatch, changes: readonly Change<Conversion>[]) {
  const waiting = await awaited.readWaiting(clicks.keys())
  const changed = new Set(changes.map(({ row }) => row && keyText(row)))
  return waiting.flatMap((before) => (changed.has(keyText(before)) ? [] : { before, row: { ...before } }))
}

const tables: readonly Table[] = [...namedTables, 'clicks', 'conversions', 'costs', 'pixel_events']
const noRows = () => Object.fromEntries(tables.map((table) => [table, []])) as unknown as RowsByTable
