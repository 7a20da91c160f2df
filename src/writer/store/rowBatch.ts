import { type NamedTable, namedTables } from '../../../schema/metadata.ts'
import type { ListedClick } from '../erasure/erasures.ts'
import type { WriteSession } from '../fence/session.ts'
import type { Click } from '../tables/click.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Cost } from '../tables/cost.ts'
import type { PixelEvent } from '../tables/pixelEvent.ts'
import type { AwaitedClicks } from './awaitedClicks.ts'
import { ClickBatch, existingClicks } from './clicks.ts'
import { type FlushOutcomes, flush } from './flush.ts'
import type { Budget, Given } from './givenFields.ts'
import type { ExistingKeys, Filling } from './keyFilter.ts'
import type { MetadataRow } from './metadata.ts'
import { existingPixelEvents } from './pixelEvents.ts'
import { conflictingField, type RowOutcome } from './rowOutcome.ts'

/** The rows of each table as they are stored. */
interface RowsByTable extends Record<NamedTable, MetadataRow[]> {
  clicks: (Click & Given & ListedClick)[]
  conversions: (Conversion & Given)[]
  costs: (Cost & Given)[]
  pixel_events: (PixelEvent & Given)[]
}
export type Table = keyof RowsByTable
export type RowToStore = { [Name in Table]: { table: Name; row: RowsByTable[Name][number] } }[Table]

const tables: readonly Table[] = [...namedTables, 'clicks', 'conversions', 'costs', 'pixel_events']

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
  return { clicks: existingClicks(session, filling), events: existingPixelEvents(session, filling), compared }
}

/** Rows that are stored by one flush, in the order in which they were added. Empty, and reusable, once they are stored. */
export class RowBatch {
  readonly #session: WriteSession
  readonly #lookUps: LookUps
  readonly #isMoved: boolean
  readonly #clicks: ClickBatch
  #rows = noRows()
  /** The table of each row. */
  #order: Table[] = []

  /** @param isMoved whether the rows have what another installation copied from their clicks and campaigns */
  constructor(session: WriteSession, lookUps: LookUps, isMoved = false) {
    this.#session = session
    this.#lookUps = lookUps
    this.#isMoved = isMoved
    this.#clicks = new ClickBatch(lookUps.clicks, lookUps.compared)
  }

  get size(): number {
    return this.#order.length
  }

  /** Whether its clicks are as many as one insert should have. */
  get isFull(): boolean {
    return this.#clicks.isFull
  }

  add({ table, row }: RowToStore): void {
    this.#order.push(table)
    if (table === 'clicks') this.#clicks.add(row)
    else (this.#rows[table] as (typeof row)[]).push(row)
  }

  /**
   * @param nowMs dates of metadata without dates, epoch milliseconds
   * @returns the outcome of each row, the first ids with a conflict, and the accounts whose erasures the caller completes
   */
  async store(nowMs: number): Promise<{ outcomes: RowOutcome[]; conflicts: string[]; toErase: readonly string[] }> {
    const [rows, order] = [this.#rows, this.#order]
    this.#rows = noRows()
    this.#order = []
    if (order.length === 0) return { outcomes: [], conflicts: [], toErase: [] }
    const { events: existing, compared, awaited } = this.#lookUps
    const stored: FlushOutcomes = await flush(this.#session, {
      clicks: this.#clicks,
      conversions: rows.conversions,
      costs: rows.costs,
      metadata: { nowMs, rows },
      isMoved: this.#isMoved,
      ...(awaited && { awaited }),
      ...(rows.pixel_events.length > 0 && { events: { rows: rows.pixel_events, existing, compared } }),
    })
    const taken = new Map<Table, number>()
    const outcomes = order.map((table) => {
      const position = taken.get(table) ?? 0
      taken.set(table, position + 1)
      return stored[table]?.[position] ?? 'duplicate'
    })
    const others = tables.flatMap((table) =>
      rows[table].flatMap(({ id }, position) =>
        conflictingField(stored[table]?.[position]) === undefined ? [] : [id],
      ),
    )
    return { outcomes, conflicts: [...this.#clicks.conflicts, ...others], toErase: stored.toErase }
  }
}

const noRows = () => Object.fromEntries(tables.map((table) => [table, []])) as unknown as RowsByTable
