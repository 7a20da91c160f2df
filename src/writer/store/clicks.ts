import { idList } from '../../stores/clickhouse/idList.ts'
import { ch, text } from '../../stores/clickhouse/sql.ts'
import { extentOf } from '../months.ts'
import { sendBatch } from '../sendBatch.ts'
import { type Click, clickColumns } from '../tables/click.ts'
import type { Writer } from '../writer.ts'
import { ExistingKeys } from './existingKeys.ts'
import { RowBuffer } from './rowBuffer.ts'

/** @returns what tells which clicks of the writer's account are stored, for all batches of a run */
export function existingClicks(writer: Writer): ExistingKeys {
  const all = ch`SELECT id AS key FROM click_index WHERE account_id = ${text(writer.accountId)}`
  return new ExistingKeys(writer, {
    name: 'clicks',
    every: all,
    among: (ids) => ch`${all} AND id IN ${idList(ids)}`,
  })
}

/** Clicks on their way to the store, each id once: the first one wins. Filled again once they are stored. */
export class ClickBatch {
  readonly #rows = new RowBuffer(clickColumns)
  /** clicked_at by id. */
  readonly #times = new Map<string, number>()

  get isFull(): boolean {
    return this.#rows.isFull
  }

  /** @returns false when a click of that id is in it already */
  add(click: Click): boolean {
    if (!this.#rows.add(click.id, click)) return false
    this.#times.set(click.id, click.clickedAt)
    return true
  }

  /**
   * Stores the clicks that are not stored yet, and empties the batch.
   * @returns how many those were
   * @throws LeaseLost, or the last error when a store stays away
   */
  async store(writer: Writer, known: ExistingKeys): Promise<number> {
    await this.#dropStored(known)
    const inserted = this.#rows.size
    // Before they are sent: after an attempt whose outcome is unknown, any of them may be stored.
    known.add(this.#rows.keys())
    while (this.#rows.size > 0 && !(await this.#send(writer))) {
      await this.#dropStored(known)
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

  async #dropStored(known: ExistingKeys): Promise<void> {
    const stored = await known.findExisting([...this.#rows.keys()])
    this.#rows.drop(stored)
    for (const id of stored) this.#times.delete(id)
  }
}
