import { ch } from '../../stores/clickhouse/sql.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { extentOf } from '../journal/months.ts'
import { type Click, insertedClickColumns } from '../tables/click.ts'
import { ExistingKeys } from './existingKeys.ts'
import { RowBuffer, storeNewRows } from './rowBuffer.ts'
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
  readonly #rows = new RowBuffer(insertedClickColumns)
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

  /** Stores the clicks that are not stored yet, and empties the batch. @returns number of new clicks */
  async store(writer: Writer, existing: ExistingKeys): Promise<number> {
    const inserted = await storeNewRows(this.#rows, existing, () =>
      sendBatch(writer, {
        resource: 'clicks',
        table: 'clicks',
        columns: insertedClickColumns,
        bytes: this.#rows.bytes,
        isDistinct: true,
        ...extentOf(Array.from(this.#rows.keys(), (id) => this.#times.get(id) ?? 0)),
      }),
    )
    this.#times.clear()
    return inserted
  }
}
