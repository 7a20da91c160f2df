import { randomUUID } from 'node:crypto'
import { parseMillionths } from '../../query/money.ts'
import { blankRow, type Column, columnsOf, selectFields } from '../../stores/clickhouse/columnKinds.ts'
import type { Insertion } from '../../stores/clickhouse/insert.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { clickFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import { inChunks } from '../erasure/matching.ts'
import type { WriteSession } from '../fence/session.ts'
import type { JournalEntry, StoredAt } from '../journal/journal.ts'
import { extentOf } from '../journal/months.ts'
import {
  type AccountKey,
  accountsOf,
  hasKey,
  inAccounts,
  keyOfText,
  keyText,
  valueByAccount,
} from '../tables/accountKeys.ts'
import { type Click, clickRowFields, insertedClickColumns } from '../tables/click.ts'
import { groupBy } from '../tables/groupBy.ts'
import { type Budget, comparedTogether, encode, encodedGivesOtherValue, type Given } from './givenFields.ts'
import { ExistingKeys, type Filling } from './keyFilter.ts'
import { RowBuffer } from './rowBuffer.ts'
import type { RowOutcome } from './rowOutcome.ts'
import { storedAtColumn } from './storedAt.ts'

const key = ch`concat(account_id, ' ', id) AS key`

/** @returns the lookup of stored clicks, for all batches of an import or a feed */
export function existingClicks(session: WriteSession, filling: Filling = 'await'): ExistingKeys {
  const source = {
    name: 'clicks',
    every: (accountIds: readonly string[]) => ch`SELECT ${key} FROM click_index WHERE ${inAccounts(accountIds)}`,
    among: (keys: readonly string[]) => ch`SELECT ${key} FROM click_index WHERE ${hasKey(keys.map(keyOfText))}`,
    isCollapsed: false,
  }
  return new ExistingKeys(session, source, filling)
}

/** @param index in the outcomes */
type Note = Given & { index: number; clickedAt: number }
type DuplicateClick = AccountKey & Omit<Note, 'clickedAt'> & { bytes: Buffer }

const columns: readonly Column<Click>[] = [...insertedClickColumns, storedAtColumn]

/** Buffers clicks for one insert, each id of an account once: the first one wins. Reusable once its clicks are stored. */
export class ClickBatch {
  readonly #existing: ExistingKeys
  readonly #compared: Budget
  readonly #rows = new RowBuffer<Click, Note>(columns)
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
    return this.#rows.isFull
  }

  add(click: Click & Given): void {
    const index = this.#outcomes.push('inserted') - 1
    const key = keyText(click)
    const note = { index, clickedAt: click.clickedAt, given: click.given }
    if (!this.#rows.add(key, click, note)) this.#addDuplicate(key, note, encode(comparedRow.columns, click))
  }

  #addDuplicate(key: string, { index, given }: Note, bytes: Buffer): void {
    this.#outcomes[index] = 'duplicate'
    if (this.#compared.rows === 0) return
    this.#compared.rows -= 1
    this.#duplicates.push({ ...keyOfText(key), index, given, bytes: Buffer.from(bytes) })
  }

  /** The keys of the clicks that are not stored, once duplicates are removed. */
  keys(): string[] {
    return [...this.#rows.rows.keys()]
  }

  /** @returns `clickedAt` of a click in the batch, epoch milliseconds */
  timeOf(key: string): number | undefined {
    return this.#rows.rows.get(key)?.note.clickedAt
  }

  /** Removes clicks that are stored. */
  async removeDuplicates(): Promise<void> {
    const stored = await this.#existing.findExisting(this.keys())
    this.#rows.drop(stored, (key, note, bytes) => this.#addDuplicate(key, note, bytes))
  }

  /** Removes the clicks that an attempt of unknown outcome has stored. */
  async removeStored(): Promise<void> {
    this.#rows.drop(await this.#existing.findExisting(this.keys()))
  }

  /** @returns an entry of the journal for each account, without any if the batch is empty */
  journalEntries(): JournalEntry[] {
    const accountOf = valueByAccount((accountId) => accountId)
    const byAccount = groupBy(this.#rows.rows, ([key]) => accountOf(key))
    return Array.from(byAccount, ([accountId, clicks]) => {
      const times = clicks.map(([, { note }]) => note.clickedAt)
      return { token: randomUUID(), accountId, resource: 'clicks', ...extentOf(times) }
    })
  }

  /** @returns the insert of all clicks; valid until the batch changes */
  insertion(storedAt: StoredAt): Insertion {
    this.#rows.setLastInstant(valueByAccount((accountId) => storedAt({ accountId, resource: 'clicks' })))
    return { table: 'clicks', columns, bytes: this.#rows.bytes, isDistinct: true }
  }

  /** Empties the batch. @returns the outcome of each click, in the order in which they were added */
  async finish(session: WriteSession): Promise<RowOutcome[]> {
    const [duplicates, outcomes] = [this.#duplicates, this.#outcomes]
    this.#duplicates = []
    this.#outcomes = []
    this.#rows.clear()
    for (const some of inChunks(duplicates, comparedTogether)) {
      const stored = await readClicks(session, some)
      for (const duplicate of some) {
        const click = stored.get(keyText(duplicate))
        if (click && encodedGivesOtherValue(comparedRow, duplicate, click)) outcomes[duplicate.index] = 'conflict'
      }
    }
    this.conflicts = duplicates.filter(({ index }) => outcomes[index] === 'conflict').map(({ id }) => id)
    return outcomes
  }
}

const comparedRow = {
  fields: Object.keys(clickRowFields),
  columns: columnsOf(clickRowFields),
  blank: blankRow(clickRowFields),
}

async function readClicks(session: WriteSession, keys: readonly AccountKey[]): Promise<Map<string, Click>> {
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
