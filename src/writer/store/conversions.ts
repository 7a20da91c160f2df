import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { ch } from '../../stores/clickhouse/sql.ts'
import { conversionFields } from '../../stores/clickhouse/tableColumns.ts'
import { idList } from '../../stores/clickhouse/textList.ts'
import type { Writer } from '../fence/writer.ts'
import { extentOf } from '../journal/months.ts'
import { type Conversion, conversionColumns } from '../tables/conversion.ts'
import { copyClickDimensions, copyConvertedClicks } from './attribution.ts'
import { readCurrentConversions } from './currentConversions.ts'
import { type Given, givesOtherValue } from './givenFields.ts'
import { sendBatch } from './sendBatch.ts'

/**
 * Upserts conversions by id: the higher `updatedAt` wins; of equal values the stored row, but within one file the later line.
 * Missing dimensions are copied from the click.
 * @param rows in the order of the file; modified
 * @param isMoved whether the rows have what another installation copied from their clicks
 * @returns rows with a new id, rows that replaced another, and rows that replaced none; within the last, rows that are older than
 *   the stored row, and ids of rows with its `updatedAt` and other values
 */
export async function storeConversions(
  writer: Writer,
  rows: readonly (Conversion & Given)[],
  isMoved = false,
): Promise<{ inserted: number; updated: number; duplicates: number; older: number; conflicts: string[] }> {
  const stored = await readCurrent(writer, new Set(rows.map(({ id }) => id)))
  const winners = new Map<string, Conversion>()
  const outcome = { inserted: 0, updated: 0, duplicates: 0, older: 0, conflicts: [] as string[] }
  for (const row of rows) {
    const present = winners.get(row.id) ?? stored.get(row.id)
    if (!present) outcome.inserted += 1
    else if (replaces(row, present)) outcome.updated += 1
    else {
      outcome.duplicates += 1
      if (row.updatedAt < present.updatedAt) outcome.older += 1
      else if (conflicts(row, present)) outcome.conflicts.push(row.id)
      continue
    }
    winners.set(row.id, row)
  }
  const changed = [...winners.values()]
  if (isMoved) await copyConvertedClicks(writer, changed)
  else await copyClickDimensions(writer, changed, stored)
  await writeChanges(
    writer,
    changed.map((row) => ({ row, before: stored.get(row.id) })),
  )
  return outcome
}

function replaces(row: Conversion, present: Conversion): boolean {
  if (row.updatedAt !== present.updatedAt) return row.updatedAt > present.updatedAt
  return row.importFile === present.importFile && row.importLine > present.importLine
}

/** Whether a row with the `updatedAt` of the present row gives other values; a later line of its own file has replaced an earlier one. */
function conflicts(row: Conversion & Given, present: Conversion): boolean {
  const isEarlierLine = row.importFile === present.importFile && row.importLine < present.importLine
  return !isEarlierLine && givesOtherValue(comparedFields, row, present)
}

const { createdAt: _createdAt, updatedAt: _updatedAt, ...compared } = conversionFields
const comparedFields = Object.keys(compared)

async function readCurrent(writer: Writer, ids: ReadonlySet<string>): Promise<Map<string, Conversion>> {
  const rows = await readCurrentConversions(
    writer,
    ch`(converted_at, id) IN (SELECT converted_at, id FROM conversion_index WHERE ${writer.ofAccount} AND id IN ${idList([...ids])})`,
    'looking up conversions',
    'import.stored_conversions',
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Writes changes as one batch: the stored row as deleted, then the new row. Of two rows with one key the table keeps the new
 * one; sums count both. After an unknown outcome the stored rows are read again and missing changes written again.
 */
export async function writeChanges(writer: Writer, changes: readonly (Change & { row: Conversion })[]): Promise<void> {
  let missing = changes
  while (missing.length > 0 && !(await sendChanges(writer, missing))) {
    const stored = await readCurrent(writer, new Set(missing.map(({ row }) => row.id)))
    missing = missing
      .map(({ row }) => ({ row, before: stored.get(row.id) }))
      .filter(({ row, before }) => before?.version !== row.version)
  }
}

export interface Change {
  /** undefined: the id is new. */
  before: Conversion | undefined
  /** undefined: the conversion is deleted. */
  row: Conversion | undefined
}

/** Writes changes as one batch, in one attempt. @returns true when all are stored; false when any may be */
export async function sendChanges(writer: Writer, changes: readonly Change[]): Promise<boolean> {
  const nowVersion = Date.now() * 1_000
  const out = new RowBinary()
  const write = (row: Conversion) => {
    for (const column of conversionColumns) column.write(out, row)
  }
  for (const { before, row } of changes) {
    const version = Math.max(nowVersion, (before?.version ?? 0) + 2)
    if (before) write({ ...before, version: version - 1, isDeleted: true })
    if (!row) continue
    row.version = version
    write(row)
  }
  return await sendBatch(writer, {
    resource: 'conversions',
    table: 'conversions',
    columns: conversionColumns,
    bytes: out.bytes,
    ...extentOf(
      changes.flatMap(({ row }) => (row ? [row.convertedAt] : [])),
      changes.flatMap(({ before }) => (before ? [before.convertedAt] : [])),
    ),
  })
}
