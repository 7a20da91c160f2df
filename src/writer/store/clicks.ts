import { randomUUID } from 'node:crypto'
import { parseMillionths } from '../../query/money.ts'
import { blankRow, type Column, columnsOf, selectFields } from '../../stores/clickhouse/columnKinds.ts'
import type { Insertion } from '../../stores/clickhouse/insert.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { clickFields, type Selected } from '../../stores/clickhouse/tableColumns.ts'
import type { WriteSession } from '../fence/writer.ts'
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
import { ExistingKeys } from './existingKeys.ts'
import { type Budget, encode, encodedGivesOtherValue, type Given } from './givenFields.ts'
import type { Filling } from './keyFilter.ts'
import { RowBuffer } from './rowBuffer.ts'
import { storedAtColumn } from './storedAt.ts'

const key = ch`concat(account_id, ' ', id) AS key`

/** @returns the lookup of stored clicks, for all batches of an import or a feed */
export function existingClicks(session: WriteSession, filling: Filling = 'await'): ExistingKeys {
  const source = {
    name: 'clicks',
    every: (accountIds: readonly string[]) => ch`SELECT ${key} FROM click_index WHERE ${inAccounts(accountIds)}`,
    among: (keys: readonly string[]) => ch`SELECT ${key} FROM click_index WHERE ${hasKey(keys.map(keyOfText))}`,
  }
  return new ExistingKeys(session, source, filling)
}

type DuplicateClick = Given & AccountKey & { bytes: Buffer }

const columns: readonly Column<Click>[] = [...insertedClickColumns, storedAtColumn]

/** Buffers clicks for one insert, each id of an account once: the first one wins. Reusable once its clicks are stored. */
export class ClickBatch {
  readonly #existing: ExistingKeys
  readonly #compared: Budget
  readonly #rows = new RowBuffer(columns)
  readonly #times = new Map<string, number>()
  /** `given` of the clicks for which it is not 0. */
  readonly #given = new Map<string, number>()
  /** Duplicates to compare with the stored clicks. */
  #duplicates: DuplicateClick[] = []
  #added = 0

  /** @param existing and @param compared shared by the batches of an import */
  constructor(existing: ExistingKeys, compared: Budget) {
    this.#existing = existing
    this.#compared = compared
  }

  get isFull(): boolean {
    return this.#rows.isFull
  }

  add(click: Click & Given): void {
    this.#added += 1
    const key = keyText(click)
    if (this.#rows.add(key, click)) {
      this.#times.set(key, click.clickedAt)
      if (click.given !== 0) this.#given.set(key, click.given)
    } else this.#addDuplicate(key, click.given, encode(comparedRow.columns, click))
  }

  #addDuplicate(key: string, given: number, bytes: Buffer): void {
    if (this.#compared.rows === 0) return
    this.#compared.rows -= 1
    this.#duplicates.push({ ...keyOfText(key), given, bytes: Buffer.from(bytes) })
  }

  keys(): string[] {
    return [...this.#rows.keys()]
  }

  /** Removes clicks that are stored. @returns numbers of the others, and of duplicates */
  async removeDuplicates(): Promise<{ inserted: number; duplicates: number }> {
    await this.#rows.dropStored(this.#existing, (key, bytes) =>
      this.#addDuplicate(key, this.#given.get(key) ?? 0, bytes),
    )
    // Added before they are sent: after an attempt of unknown outcome, any of them may be stored.
    this.#existing.add(this.#rows.keys())
    const inserted = this.#rows.size
    return { inserted, duplicates: this.#added - inserted }
  }

  /** Removes the clicks that an attempt of unknown outcome has stored. */
  removeStored(): Promise<void> {
    return this.#rows.dropStored(this.#existing)
  }

  /** @returns an entry of the journal for each account, without any if the batch is empty */
  journalEntries(): JournalEntry[] {
    const times = new Map<string, number[]>()
    const timesOf = valueByAccount((accountId) => {
      const ofAccount = times.get(accountId) ?? []
      times.set(accountId, ofAccount)
      return ofAccount
    })
    for (const key of this.#rows.keys()) timesOf(key).push(this.#times.get(key) ?? 0)
    return Array.from(times, ([accountId, of]) => ({
      ...{ token: randomUUID(), accountId, resource: 'clicks' as const, ...extentOf(of) },
    }))
  }

  /** @returns the insert of all clicks; valid until the batch changes */
  insertion(storedAt: StoredAt): Insertion {
    this.#rows.setLastInstant(valueByAccount((accountId) => storedAt({ accountId, resource: 'clicks' })))
    return { table: 'clicks', columns, bytes: this.#rows.bytes, isDistinct: true }
  }

  /** Empties the batch. @returns ids of the compared duplicates that give other values than the stored click */
  async finish(session: WriteSession): Promise<string[]> {
    const duplicates = this.#duplicates
    this.#duplicates = []
    this.#rows.clear()
    this.#times.clear()
    this.#given.clear()
    this.#added = 0
    if (duplicates.length === 0) return []
    const stored = await readClicks(session, duplicates)
    const conflicts = duplicates.filter((duplicate) => {
      const click = stored.get(keyText(duplicate))
      return click !== undefined && encodedGivesOtherValue(comparedRow, duplicate, click)
    })
    return conflicts.map(({ id }) => id)
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
