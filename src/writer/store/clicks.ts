import { idList } from '../../stores/clickhouse/idList.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { extentOf } from '../journal/months.ts'
import type { Writer } from '../lease/writer.ts'
import { type Click, clickColumns } from '../tables/click.ts'
import { ExistingKeys } from './existingKeys.ts'
import { RowBuffer } from './rowBuffer.ts'
import { sendBatch } from './sendBatch.ts'

/** @returns the lookup of stored click ids of the writer's account, for all batches of an import */
export function existingClicks(writer: Writer): ExistingKeys {
  const all = ch`SELECT id AS key FROM click_index WHERE ${writer.ofAccount}`
  return new ExistingKeys(writer, {
    name: 'clicks',
    every: all,
    among: (ids) => ch`${all} AND id IN ${idList(ids)}`,
  })
}

/** Buffers clicks for one insert, each id once: the first one wins. Reusable once its clicks are stored. */
export class ClickBatch {
  readonly #rows = new RowBuffer(clickColumns)
  /** clicked_at by id. */
  readonly #times = new Map<string, number>()

  get isFull(): boolean {
    return this.#rows.isFull
  }

  /** @returns false when the batch already has a click with that id */
  add(click: Click): boolean {
    if (!this.#rows.add(click.id, click)) return false
    this.#times.set(click.id, click.clickedAt)
    return true
  }

  /**
   * Stores the clicks that are not stored yet, and empties the batch.
   * @returns number of new clicks
   * @throws LeaseLost, or the last error when a database stays unavailable
   */
  async store(writer: Writer, existing: ExistingKeys): Promise<number> {
    await this.#dropStored(existing)
    const inserted = this.#rows.size
    // Added before they are sent: after an attempt of unknown outcome, any of them may be stored.
    existing.add(this.#rows.keys())
    while (this.#rows.size > 0 && !(await this.#send(writer))) {
      await this.#dropStored(existing)
    }
    this.#rows.clear()
    this.#times.clear()
    return inserted
  }

  #send(writer: Writer): Promise<boolean> {
    return sendBatch(writer, {
      resource: 'clicks',
      table: 'clicks',
      columns: clickColumns,
      bytes: this.#rows.bytes,
      isDistinct: true,
      ...extentOf(this.#times.values()),
    })
  }

  async #dropStored(existing: ExistingKeys): Promise<void> {
    const stored = await existing.findExisting([...this.#rows.keys()])
    this.#rows.drop(stored)
    for (const id of stored) this.#times.delete(id)
  }
}
