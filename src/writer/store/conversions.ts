import { randomUUID } from 'node:crypto'
import type { Insertion } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import type { WriteSession } from '../fence/writer.ts'
import type { JournalEntry, StoredAt } from '../journal/journal.ts'
import { extentOf } from '../journal/months.ts'
import { keyText } from '../tables/accountKeys.ts'
import { type Conversion, conversionColumns } from '../tables/conversion.ts'
import { groupBy } from '../tables/groupBy.ts'
import { readStoredConversions } from './currentConversions.ts'
import { type Given, givesOtherValue } from './givenFields.ts'
import type { RowOutcome } from './rowOutcome.ts'
import { storedAtColumn } from './storedAt.ts'

/** A change of a stored conversion: the stored row is written as deleted, then the new row. */
export interface Change {
  /** undefined: the id is new. */
  before: Conversion | undefined
  /** undefined: the conversion is deleted. */
  row: Conversion | undefined
}

/**
 * Upserts conversions by id: the higher `updatedAt` wins; of equal values the stored row, but within one file the later line.
 * @param rows in the order of the file
 * @returns the changes that store the winners, and the outcome of each row
 */
export async function planUpserts(
  session: WriteSession,
  rows: readonly (Conversion & Given)[],
): Promise<{ changes: (Change & { row: Conversion })[]; outcomes: RowOutcome[] }> {
  const stored = await readStoredConversions(session, rows)
  const winners = new Map<string, Conversion>()
  const outcomes = rows.map((row) => {
    const key = keyText(row)
    const outcome = outcomeOf(row, winners.get(key) ?? stored.get(key))
    if (outcome === 'inserted' || outcome === 'updated') winners.set(key, row)
    return outcome
  })
  return { changes: Array.from(winners, ([key, row]) => ({ row, before: stored.get(key) })), outcomes }
}

function outcomeOf(row: Conversion & Given, present: Conversion | undefined): RowOutcome {
  if (!present) return 'inserted'
  if (row.updatedAt < present.updatedAt) return 'older'
  const isLaterLine = row.importFile === present.importFile && row.importLine > present.importLine
  if (row.updatedAt > present.updatedAt || isLaterLine) return 'updated'
  return conflicts(row, present) ? 'conflict' : 'duplicate'
}

/** Whether a row with the `updatedAt` of the present row gives other values; a later line of its own file has replaced an earlier one. */
function conflicts(row: Conversion & Given, present: Conversion): boolean {
  const isEarlierLine = row.importFile === present.importFile && row.importLine < present.importLine
  return !isEarlierLine && givesOtherValue(comparedFields, row, present)
}

const { createdAt: _createdAt, updatedAt: _updatedAt, ...compared } = conversionFields
const comparedFields = Object.keys(compared)

/** @returns an entry of the journal for each account */
export function journalEntriesOf(changes: readonly Change[]): JournalEntry[] {
  const byAccount = groupBy(changes, ({ before, row }) => (row ?? before)?.accountId ?? '')
  return Array.from(byAccount, ([accountId, ofAccount]) => {
    const times = ofAccount.flatMap(({ row }) => row?.convertedAt ?? [])
    const removed = ofAccount.flatMap(({ before }) => before?.convertedAt ?? [])
    return { token: randomUUID(), accountId, resource: 'conversions', ...extentOf(times, removed) }
  })
}

/** @returns the insert of changes. Of two rows with one key the table keeps the new one; sums count both. */
export function insertionOf(changes: readonly Change[], storedAt: StoredAt): Insertion {
  const nowVersion = Date.now() * 1_000
  const out = new RowBinary()
  const write = (row: Conversion) => {
    for (const column of conversionColumns) column.write(out, row)
    out.instant(storedAt({ accountId: row.accountId, resource: 'conversions' }))
  }
  for (const { before, row } of changes) {
    const version = Math.max(nowVersion, (before?.version ?? 0) + 2)
    if (before) write({ ...before, version: version - 1, isDeleted: true })
    if (!row) continue
    row.version = version
    write(row)
  }
  return { table: 'conversions', columns: [...conversionColumns, storedAtColumn], bytes: out.bytes }
}

/** @returns the changes that an attempt of unknown outcome has not stored, to the rows that are stored now */
export async function missingChanges(session: WriteSession, changes: readonly Change[]): Promise<Change[]> {
  const rows = changes.flatMap(({ row }) => row ?? [])
  const stored = await readStoredConversions(session, rows)
  return rows
    .map((row) => ({ row, before: stored.get(keyText(row)) }))
    .filter(({ row, before }) => before?.version !== row.version)
}
