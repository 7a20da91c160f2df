import { ch, text } from '../sql/fragment.ts'
import { idList } from '../sql/idList.ts'
import { sendBatch } from './batch.ts'
import { type Click, clickColumns } from './click.ts'
import { KeyedRows } from './keyedRows.ts'
import { KnownKeys } from './knownKeys.ts'
import type { Writer } from './writer.ts'

/** @returns what tells which clicks of the writer's account are stored, for all batches of a run */
export function knownClicks(writer: Writer): KnownKeys {
  const all = ch`SELECT id AS key FROM click_index WHERE account_id = ${text(writer.accountId)}`
  return new KnownKeys(writer, {
    name: 'clicks',
    every: all,
    among: (ids) => ch`${all} AND id IN ${idList(ids)}`,
  })
}

/** Clicks on their way to the store, each id once: the first one wins. Filled again once they are stored. */
export class ClickBatch {
  readonly #rows = new KeyedRows(clickColumns)
  #firstMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY

  get isFull(): boolean {
    return this.#rows.isFull
  }

  /** @returns false when a click of that id is in it already */
  add(click: Click): boolean {
    if (!this.#rows.add(click.id, click)) return false
    this.#firstMs = Math.min(this.#firstMs, click.clickedAt)
    this.#lastMs = Math.max(this.#lastMs, click.clickedAt)
    return true
  }

  /**
   * Stores the clicks that are not stored yet, and empties the batch.
   * @returns how many those were
   * @throws LeaseLost, or the last error when a store stays away
   */
  async store(writer: Writer, known: KnownKeys): Promise<number> {
    this.#rows.drop(await known.storedAmong([...this.#rows.keys()]))
    const inserted = this.#rows.size
    // Before they are sent: after an attempt whose outcome is unknown, any of them may be stored.
    known.add(this.#rows.keys())
    while (this.#rows.size > 0 && !(await this.#send(writer))) {
      this.#rows.drop(await known.storedAmong([...this.#rows.keys()]))
    }
    this.#rows.clear()
    this.#firstMs = Number.POSITIVE_INFINITY
    this.#lastMs = Number.NEGATIVE_INFINITY
    return inserted
  }

  #send(writer: Writer): Promise<boolean> {
    return sendBatch(writer, {
      resource: 'clicks',
      table: 'clicks',
      columns: clickColumns,
      bytes: this.#rows.bytes,
      isDistinct: true,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
    })
  }
}
