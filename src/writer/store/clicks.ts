import { parseMillionths } from '../../query/money.ts'
import { blankRow, columnsOf, selectFields } from '../../stores/clickhouse/columnKinds.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { clickFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { extentOf } from '../journal/months.ts'
import { type Click, clickRowFields, insertedClickColumns } from '../tables/click.ts'
import { ExistingKeys } from './existingKeys.ts'
import { type Budget, encode, encodedGivesOtherValue, type Given } from './givenFields.ts'
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

type DuplicateClick = Given & { id: string; bytes: Buffer }

/** Buffers clicks for one insert, each id once: the first one wins. Reusable once its clicks are stored. */
export class ClickBatch {
  readonly #rows = new RowBuffer(insertedClickColumns)
  readonly #times = new Map<string, number>()
  /** `given` of the clicks for which it is not 0. */
  readonly #given = new Map<string, number>()
  /** Duplicates to compare with the stored clicks. */
  #duplicates: DuplicateClick[] = []
  readonly #compared: Budget

  /** @param compared shared by the batches of an import */
  constructor(compared: Budget) {
    this.#compared = compared
  }

  get isFull(): boolean {
    return this.#rows.isFull
  }

  add(click: Click & Given): void {
    if (this.#rows.add(click.id, click)) {
      this.#times.set(click.id, click.clickedAt)
      if (click.given !== 0) this.#given.set(click.id, click.given)
    } else this.#addDuplicate({ id: click.id, bytes: encode(comparedRow.columns, click), given: click.given })
  }

  #addDuplicate(duplicate: DuplicateClick): void {
    if (this.#compared.rows === 0) return
    this.#compared.rows -= 1
    this.#duplicates.push({ ...duplicate, bytes: Buffer.from(duplicate.bytes) })
  }

  /**
   * Stores the clicks that are not stored yet, and empties the batch.
   * @returns number of new clicks; ids of the compared duplicates that give other values than the stored click
   */
  async store(writer: Writer, existing: ExistingKeys): Promise<{ inserted: number; conflicts: string[] }> {
    const send = () =>
      sendBatch(writer, {
        resource: 'clicks',
        table: 'clicks',
        columns: insertedClickColumns,
        bytes: this.#rows.bytes,
        isDistinct: true,
        ...extentOf(Array.from(this.#rows.keys(), (id) => this.#times.get(id) ?? 0)),
      })
    const inserted = await storeNewRows(this.#rows, existing, send, (id, bytes) =>
      this.#addDuplicate({ id, bytes, given: this.#given.get(id) ?? 0 }),
    )
    const duplicates = this.#duplicates
    this.#duplicates = []
    this.#times.clear()
    this.#given.clear()
    const stored = duplicates.length === 0 ? new Map<string, Click>() : await readClicks(writer, duplicates)
    const conflicts = duplicates.filter((duplicate) => {
      const click = stored.get(duplicate.id)
      return click !== undefined && encodedGivesOtherValue(comparedRow, duplicate, click)
    })
    return { inserted, conflicts: conflicts.map(({ id }) => id) }
  }
}

const comparedRow = {
  fields: Object.keys(clickRowFields),
  columns: columnsOf(clickRowFields),
  blank: blankRow(clickRowFields),
}

async function readClicks(writer: Writer, duplicates: readonly DuplicateClick[]): Promise<Map<string, Click>> {
  const { accountId, ofAccount } = writer
  const ids = idList([...new Set(duplicates.map(({ id }) => id))])
  const query = ch`
SELECT ${selectFields(clickFields)}
FROM clicks
WHERE ${ofAccount}
  AND (clicked_at, id) IN (SELECT clicked_at, id FROM click_index WHERE ${ofAccount} AND id IN ${ids})
ORDER BY stored_at, clicked_at
LIMIT 1 BY id`
  const rows = await writer.select<Selected<typeof clickFields>>(
    'comparing duplicates',
    query,
    'import.duplicate_clicks',
  )
  const amount = (decimal: string | null) => (decimal === null ? null : parseMillionths(decimal))
  return new Map(
    rows.map((row) => [row.id, { ...row, accountId, cost: amount(row.cost), costBase: amount(row.costBase) }]),
  )
}
