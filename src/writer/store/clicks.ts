import { parseMillionths } from '../../query/money.ts'
import { blankRow, type Column, selectFields } from '../../stores/clickhouse/columnKinds.ts'
import type { Insertion } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { clickFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { addErasures, type ListedClick } from '../erasure/erasures.ts'
import { inChunks } from '../erasure/matching.ts'
import type { WriteSession } from '../fence/session.ts'
import { entryOf, extentOf, type JournalEntry, type StoredAt } from '../journal/journal.ts'
import type { ExistingKeys, KeySource } from '../storedKeys/existingKeys.ts'
import { type AccountKey, accountsOf, hasKey, inAccounts, keyOfText, keyText } from '../tables/accountKeys.ts'
import { type Click, clickRowFields, insertedClickColumns } from '../tables/click.ts'
import { type Budget, comparedTogether, encode, encodedFieldWithOtherValue, type Given } from '../tables/givenFields.ts'
import { groupBy } from '../tables/groupBy.ts'
import { storedAtColumn } from '../tables/storedAt.ts'
import { conflict, type RowOutcome } from '../upserts/rowOutcome.ts'

const key = ch`concat(account_id, ' ', id) AS key`

export const storedClicks: KeySource = {
  name: 'clicks',
  every: (accountIds) => ch`SELECT ${key} FROM click_index WHERE ${inAccounts(accountIds)}`,
  among: (keys) => ch`SELECT ${key} FROM click_index WHERE ${hasKey(keys.map(keyOfText))}`,
  isCollapsed: false,
}

const columns: readonly Column<Click>[] = [...insertedClickColumns, storedAtColumn]

/**
 * Large, so that ClickHouse merges few parts; small enough for two batches and the server's copy in memory, and for the window
 * of a write. A click takes about 500 bytes. Just below a power of two, since the buffer doubles.
 */
const rowsMax = 50_000
const bytesMax = 30 << 20

/** `end` is the offset after the click in the bytes, `index` its position in the outcomes. */
type BufferedClick = Given & ListedClick & { end: number; readonly index: number; readonly clickedAt: number }
type DuplicateClick = AccountKey & Given & { index: number; bytes: Buffer }

/** Buffers encoded clicks for one insert, each id of an account once: the first one wins. Reusable once its clicks are stored. */
export class ClickBatch {
  readonly #existing: ExistingKeys
  readonly #compared: Budget
  readonly #out = new RowBinary()
  /** In the order of the bytes. */
  readonly #clicks = new Map<string, BufferedClick>()
  /** Duplicates to compare with the stored clicks. */
  #duplicates: DuplicateClick[] = []
  /** Ids of the clicks of the last `finish` with this outcome. */
  conflicts: readonly string[] = []
  /** Of all added clicks, in their order. */
  #outcomes: RowOutcome[] = []

  /** @param existing and @param compared may be shared by several batches */
  constructor(existing: ExistingKeys, compared: Budget) {
    this.#existing = existing
    this.#compared = compared
  }

  get isFull(): boolean {
    return this.#clicks.size >= rowsMax || this.#out.length >= bytesMax
  }

  /** @returns the position of its outcome */
  add(click: Click & Given & ListedClick): number {
    const index = this.#outcomes.push('inserted') - 1
    const key = keyText(click)
    const { clickedAt, given, erasure } = click
    if (this.#clicks.has(key)) this.#addDuplicate(key, { index, given }, encode(comparedRow.columns, click))
    else {
      for (const column of columns) column.write(this.#out, click)
      this.#clicks.set(key, { end: this.#out.length, index, clickedAt, given, ...(erasure && { erasure }) })
    }
    return index
  }

  /** @param bytes are copied */
  #addDuplicate(key: string, { index, given }: Pick<DuplicateClick, 'index' | 'given'>, bytes: Buffer): void {
    this.#outcomes[index] = 'duplicate'
    if (this.#compared.rows === 0) return
    this.#compared.rows -= 1
    this.#duplicates.push({ ...keyOfText(key), index, given, bytes: Buffer.from(bytes) })
  }

  /** The keys of the clicks that are not stored, once duplicates are removed. */
  keys(): string[] {
    return [...this.#clicks.keys()]
  }

  /** @returns `clickedAt` of a click in the batch, epoch milliseconds */
  timeOf(key: string): number | undefined {
    return this.#clicks.get(key)?.clickedAt
  }

  /**
   * Drops clicks that ClickHouse already has.
   * @param kind `duplicates`: stored before the batch; `sent`: by an attempt of unknown outcome
   */
  async dropStored(kind: 'duplicates' | 'sent'): Promise<void> {
    const stored = await this.#existing.findExisting(this.keys())
    if (stored.size === 0) return
    let from = 0
    let to = 0
    for (const [key, click] of this.#clicks) {
      const { end } = click
      if (stored.has(key)) {
        if (kind === 'duplicates') this.#addDuplicate(key, click, this.#out.bytes.subarray(from, end))
        this.#clicks.delete(key)
      } else {
        if (to !== from) this.#out.moveLeft(to, from, end)
        to += end - from
        click.end = to
      }
      from = end
    }
    this.#out.length = to
  }

  /** Lists the clicks of erased visitors, before they are sent: their conversions and events are to be erased too. @returns their accounts */
  async listErased(session: WriteSession): Promise<string[]> {
    const found = [...this.#clicks].flatMap(([key, { erasure }]) => (erasure ? { ...keyOfText(key), erasure } : []))
    const byAccount = groupBy(found, ({ accountId }) => accountId)
    for (const [accountId, clicks] of byAccount) {
      const erasures = clicks.map(({ erasure }) => erasure)
      await addErasures(session.writerOf(accountId), erasures, { awaitsClick: true })
    }
    return [...byAccount.keys()]
  }

  /** @returns a new entry of the journal for the clicks of each account */
  entries(): JournalEntry[] {
    const byAccount = groupBy(this.#clicks, ([key]) => keyOfText(key).accountId)
    return Array.from(byAccount, ([accountId, clicks]) =>
      entryOf(accountId, 'clicks', extentOf(clicks.map(([, { clickedAt }]) => clickedAt))),
    )
  }

  /** @returns the insert of all clicks; valid until the batch changes */
  insertion(storedAt: StoredAt): Insertion {
    for (const [key, { end }] of this.#clicks)
      this.#out.replaceInstant(end, storedAt({ ...keyOfText(key), resource: 'clicks' }))
    return { table: 'clicks', columns, bytes: this.#out.bytes, isDistinct: true }
  }

  /** Empties the batch. @returns the outcome of each click, in the order in which they were added */
  async finish(session: WriteSession): Promise<RowOutcome[]> {
    const [duplicates, outcomes] = [this.#duplicates, this.#outcomes]
    this.#duplicates = []
    this.#outcomes = []
    this.#clicks.clear()
    this.#out.length = 0
    const conflicts: string[] = []
    for (const some of inChunks(duplicates, comparedTogether)) {
      const stored = await readStoredClicks(session, some)
      for (const duplicate of some) {
        const click = stored.get(keyText(duplicate))
        const field = click && encodedFieldWithOtherValue(comparedRow, duplicate, click)
        if (field === undefined) continue
        outcomes[duplicate.index] = conflict(field)
        conflicts.push(duplicate.id)
      }
    }
    this.conflicts = conflicts
    return outcomes
  }
}

const comparedRow = {
  fields: Object.keys(clickRowFields),
  columns: insertedClickColumns,
  blank: blankRow(clickRowFields),
}

async function readStoredClicks(session: WriteSession, keys: readonly AccountKey[]): Promise<Map<string, Click>> {
  const query = ch`
SELECT account_id AS accountId, ${selectFields(clickFields)}
FROM clicks
WHERE ${inAccounts(accountsOf(keys))}
  AND (account_id, clicked_at, id) IN (SELECT account_id, clicked_at, id FROM click_index WHERE ${hasKey(keys)})
ORDER BY stored_at, clicked_at
LIMIT 1 BY account_id, id`
  type Row = Selected<typeof clickFields> & { accountId: string }
  const rows = await session.select<Row>('comparing duplicates', query, 'import.duplicate_clicks')
  const amount = (decimal: string | null) => (decimal === null ? null : parseMillionths(decimal))
  return new Map(rows.map((row) => [keyText(row), { ...row, cost: amount(row.cost), costBase: amount(row.costBase) }]))
}
