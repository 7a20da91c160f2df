import type { Insertion } from '../../stores/clickhouse/insert.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import type { WriteSession } from '../fence/session.ts'
import { entryOf, extentOf, type JournalEntry, type StoredAt } from '../journal/journal.ts'
import { keyText } from '../tables/accountKeys.ts'
import { arrivalBit, type Given } from '../tables/givenFields.ts'
import { groupBy } from '../tables/groupBy.ts'
import { storedAtColumn } from '../tables/storedAt.ts'
import type { ChangingRow, ChangingTable, GivenRow } from './changingTables.ts'
import { groupRowsMax, readNamedGroups, readRemovedKeys, readStoredRows } from './currentRows.ts'
import { conflict, detailOf, type RowOutcome } from './rowOutcome.ts'

/** A change of a stored row: the stored row is written as deleted, then the new row. */
export interface Change<Row extends ChangingRow> {
  /** undefined: the id is new. */
  before: Row | undefined
  /** undefined: the row is deleted. */
  row: Row | undefined
}

/**
 * Upserts rows by id. A row is compared with the row that has won so far, at first the stored one:
 *
 * | `updatedAt` | file  | line    | values | outcome                    |
 * | ----------- | ----- | ------- | ------ | -------------------------- |
 * | higher      |       |         |        | `updated`: the row wins    |
 * | equal       | same  | later   |        | `updated`: the row wins    |
 * | equal       | same  | earlier |        | `duplicate`                |
 * | equal       | other |         | equal  | `duplicate`                |
 * | equal       | other |         | other  | `conflict`                 |
 * | lower       |       |         |        | `older`                    |
 *
 * The same line of a file, and rows without a file, are as rows of other files. Rows without an `updatedAt` of their own that give the
 * stored values change nothing. A row without a time of its own (`arrivalBit`) gets a later time than the stored row. A cost that was
 * removed by age is not stored again at a later time. A row with `changesOf` becomes a whole row for each row that it names, stored or
 * before it.
 * @param rows in the order of the file
 * @returns the changes that store the winners, and the outcome of each row
 */
export async function findUpserts<Row extends ChangingRow>(
  session: WriteSession,
  table: ChangingTable<Row>,
  rows: readonly GivenRow<Row>[],
): Promise<{ changes: (Change<Row> & { row: Row & Given })[]; outcomes: RowOutcome[] }> {
  const named = rows.filter(({ id }) => id !== '')
  const { keys: keysOfGroups, large } = await readNamedGroups(session, table, rows)
  const stored = await readStoredRows(session, table, [...named, ...keysOfGroups])
  const removed = await readRemovedKeys(session, table, rows)
  const winners = new Map<string, Row & Given>()
  const presentOf = (key: string): Row | undefined => winners.get(key) ?? stored.get(key)
  const groupOf = (row: Row) => keyText({ accountId: row.accountId, id: table.group?.of(row) ?? '' })
  /** Rows by group, also of an earlier state that is in another group. */
  const groups = groupBy<Row, string>(named.length < rows.length ? [...stored.values(), ...named] : [], groupOf)
  const namedBy = (row: Row): Row[] => {
    const one = presentOf(keyText(row))
    if (row.id !== '') return one ? [one] : []
    const group = groupOf(row)
    const keys = new Set(groups.get(group)?.map(keyText))
    const found = [...keys].flatMap((key): Row | [] => presentOf(key) ?? []).filter((one) => groupOf(one) === group)
    return large.has(group) || found.length > groupRowsMax ? [] : found
  }
  /** Keys for which a row with its own `updatedAt` has won. */
  const dated = new Set<string>()
  const upsert = (row: Row & Given): RowOutcome => {
    const key = keyText(row)
    if (removed.has(key)) return conflict()
    const before = presentOf(key)
    if (before && (row.given & arrivalBit) !== 0) {
      // It was stored by a flush that failed afterwards.
      if (row.importFile === before.importFile && row.importLine <= before.importLine) return 'duplicate'
      row.updatedAt = Math.max(row.updatedAt, before.updatedAt + 1)
    }
    const outcome = before ? outcomeBeside(before, row, table) : 'inserted'
    if (outcome !== 'inserted' && outcome !== 'updated') return outcome
    winners.set(key, row)
    if (!table.isUndated(row)) dated.add(key)
    return outcome
  }
  const outcomes = rows.map((row): RowOutcome => {
    const changed = row.changesOf?.(namedBy(row)) ?? [row]
    return typeof changed === 'string' ? `rejected ${changed}` : outcomeOfAll(changed.map(upsert))
  })
  const repeated = new Set<string>()
  const changes: (Change<Row> & { row: Row & Given })[] = []
  for (const [key, row] of winners) {
    const before = stored.get(key)
    if (before && !dated.has(key) && table.differingField(row, before) === undefined) repeated.add(key)
    else changes.push({ row, before })
  }
  const isRepeated = (index: number) => repeated.has(keyText(rows[index] as Row))
  return {
    changes,
    outcomes: outcomes.map((outcome, index) => (outcome === 'updated' && isRepeated(index) ? 'duplicate' : outcome)),
  }
}

/** @returns what a sender must know of the outcomes of the rows that it changes */
function outcomeOfAll(outcomes: readonly RowOutcome[]): RowOutcome {
  const conflicting = outcomes.find((outcome) => detailOf('conflict', outcome) !== undefined)
  return conflicting ?? (['inserted', 'updated', 'older'] as const).find((one) => outcomes.includes(one)) ?? 'duplicate'
}

function outcomeBeside<Row extends ChangingRow>(present: Row, row: Row & Given, table: ChangingTable<Row>): RowOutcome {
  if (row.updatedAt !== present.updatedAt) return row.updatedAt > present.updatedAt ? 'updated' : 'older'
  const isOfSameFile = row.importFile === present.importFile
  if (isOfSameFile && row.importFile !== '' && row.importLine > present.importLine) return 'updated'
  if (isOfSameFile && row.importLine < present.importLine) return 'duplicate'
  const field = table.differingField(row, present)
  return field === undefined ? 'duplicate' : conflict(field)
}

/** @returns a new entry of the journal for the changes of each account */
export function entriesOf<Row extends ChangingRow>(
  { name, atOf }: ChangingTable<Row>,
  changes: readonly Change<Row>[],
): JournalEntry[] {
  const byAccount = groupBy(changes, ({ before, row }) => (row ?? before)?.accountId ?? '')
  return Array.from(byAccount, ([accountId, ofAccount]) => {
    const times = ofAccount.flatMap(({ row }) => (row ? atOf(row) : []))
    const removed = ofAccount.flatMap(({ before }) => (before ? atOf(before) : []))
    const newTimes = ofAccount.flatMap(({ before, row }) => (row && !isSameState(row, before) ? atOf(row) : []))
    return entryOf(accountId, name, extentOf(times, removed, newTimes))
  })
}

/** Whether attribution or a repair writes the stored state of a row. */
function isSameState(row: ChangingRow, before: ChangingRow | undefined): boolean {
  return row.updatedAt === before?.updatedAt && row.importLine === before.importLine
}

/** @returns the insert of changes. Of two rows with one key the table keeps the new one; sums count both. */
export function insertionOf<Row extends ChangingRow>(
  { name, columns }: ChangingTable<Row>,
  changes: readonly Change<Row>[],
  storedAt: StoredAt,
): Insertion {
  const nowVersion = Date.now() * 1_000
  const out = new RowBinary()
  const write = (row: Row) => {
    for (const column of columns) column.write(out, row)
    out.instant(storedAt({ accountId: row.accountId, resource: name }))
  }
  for (const { before, row } of changes) {
    const version = Math.max(nowVersion, (before?.version ?? 0) + 2)
    if (before) write({ ...before, version: version - 1, isDeleted: true })
    if (!row) continue
    row.version = version
    write(row)
  }
  return { table: name, columns: [...columns, storedAtColumn], bytes: out.bytes }
}

/** @returns the changes that an attempt of unknown outcome has not stored, to the rows that are stored now */
export async function missingChanges<Row extends ChangingRow>(
  session: WriteSession,
  table: ChangingTable<Row>,
  changes: readonly Change<Row>[],
): Promise<Change<Row>[]> {
  const rows = changes.flatMap(({ row }) => row ?? [])
  const stored = await readStoredRows(session, table, rows)
  return rows
    .map((row) => ({ row, before: stored.get(keyText(row)) }))
    .filter(({ row, before }) => before?.version !== row.version)
}
