import { idList } from '../../stores/clickhouse/idList.ts'
import { RowBinary } from '../../stores/clickhouse/rowBinary.ts'
import { ch, text } from '../../stores/clickhouse/sql.ts'
import { extentOf } from '../months.ts'
import { sendBatch } from '../sendBatch.ts'
import { type Conversion, conversionColumns } from '../tables/conversion.ts'
import type { Writer } from '../writer.ts'
import { copyClickDimensions } from './attribution.ts'
import { readCurrentConversions } from './currentConversions.ts'

/**
 * Upserts conversions by id: the higher `updatedAt` wins, whatever the order of arrival; with equal ones the stored row
 * stays, but of one file the later line wins. Dimensions that a row was not given come from its click.
 * @param rows in the order of the file; they are changed
 * @returns how many rows came first with their id, how many took the place of another, how many lost
 * @throws LeaseLost, or the last error when a store stays away
 */
export async function storeConversions(
  writer: Writer,
  rows: readonly Conversion[],
): Promise<{ inserted: number; updated: number; duplicates: number }> {
  const stored = await readCurrent(writer, new Set(rows.map(({ id }) => id)))
  const winners = new Map<string, Conversion>()
  const outcome = { inserted: 0, updated: 0, duplicates: 0 }
  for (const row of rows) {
    const present = winners.get(row.id) ?? stored.get(row.id)
    if (!present) outcome.inserted += 1
    else if (replaces(row, present)) outcome.updated += 1
    else outcome.duplicates += 1
    if (!present || replaces(row, present)) winners.set(row.id, row)
  }
  await copyClickDimensions(writer, [...winners.values()])
  await writeChanges(
    writer,
    [...winners.values()].map((row) => ({ row, before: stored.get(row.id) })),
  )
  return outcome
}

function replaces(row: Conversion, present: Conversion): boolean {
  if (row.updatedAt !== present.updatedAt) return row.updatedAt > present.updatedAt
  return row.importFile === present.importFile && row.importLine > present.importLine
}

async function readCurrent(writer: Writer, ids: ReadonlySet<string>): Promise<Map<string, Conversion>> {
  const account = ch`account_id = ${text(writer.accountId)}`
  const rows = await readCurrentConversions(
    writer,
    ch`(converted_at, id) IN (SELECT converted_at, id FROM conversion_index WHERE ${account} AND id IN ${idList([...ids])})`,
    { doing: 'looking up conversions', label: 'import.stored_conversions' },
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Writes changes as one batch: each takes the stored row back, as deleted, and puts the new one in its place. Of two
 * rows with one key the table keeps the new one; sums and other tables made of them follow from the pair. After an
 * attempt whose outcome is unknown the stored rows are read again, and the changes that are missing are written anew.
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

/** A conversion as it is, undefined for a new id, and as it is to be stored, undefined for one that is taken back. */
export interface Change {
  before: Conversion | undefined
  row: Conversion | undefined
}

/**
 * Writes changes as one batch, in one attempt.
 * @returns whether all of them are stored; false: any of them may be
 */
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
