import { ch, text } from '../sql/fragment.ts'
import { idList } from '../sql/idList.ts'
import { selectRows } from '../sql/rows.ts'
import { attribute } from './attribution.ts'
import { sendBatch } from './batch.ts'
import { blankConversion, type Conversion, conversionColumns } from './conversion.ts'
import { untilAnswered } from './patience.ts'
import { RowBinary } from './rowBinary.ts'
import type { Writer } from './writer.ts'

/** What has to be known of a stored conversion to write it again. */
export type Stored = Pick<
  Conversion,
  'id' | 'version' | 'convertedAt' | 'createdAt' | 'updatedAt' | 'clickId' | 'clickAt' | 'importFile' | 'importLine'
>

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
  const stored = await storedAmong(writer, new Set(rows.map(({ id }) => id)))
  const winners = new Map<string, Conversion>()
  const outcome = { inserted: 0, updated: 0, duplicates: 0 }
  for (const row of rows) {
    const present = winners.get(row.id) ?? stored.get(row.id)
    if (!present) outcome.inserted += 1
    else if (beats(row, present)) outcome.updated += 1
    else outcome.duplicates += 1
    if (!present || beats(row, present)) winners.set(row.id, row)
  }
  await attribute(writer, [...winners.values()])
  await writeVersions(
    writer,
    [...winners.values()].map((row) => ({ row, before: stored.get(row.id) })),
  )
  return outcome
}

function beats(row: Conversion, present: Stored): boolean {
  if (row.updatedAt !== present.updatedAt) return row.updatedAt > present.updatedAt
  return row.importFile === present.importFile && row.importLine > present.importLine
}

async function storedAmong(writer: Writer, ids: ReadonlySet<string>): Promise<Map<string, Stored>> {
  const account = ch`account_id = ${text(writer.accountId)}`
  const question = ch`
SELECT
  id, version, toUnixTimestamp64Milli(converted_at) AS convertedAt, toUnixTimestamp64Milli(created_at) AS createdAt,
  toUnixTimestamp64Milli(updated_at) AS updatedAt, click_id AS clickId, toUnixTimestamp64Milli(click_at) AS clickAt,
  import_file AS importFile, import_line AS importLine
FROM conversions FINAL
WHERE ${account}
  AND (converted_at, id) IN (SELECT converted_at, id FROM conversion_index WHERE ${account} AND id IN ${idList([...ids])})`
  const rows = await untilAnswered(
    'looking up conversions',
    () => selectRows<Stored>(writer.stores.clickhouse, question, { label: 'import.stored_conversions' }),
    writer,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Writes new versions as one batch. Where a row moves to another key, in its table or among the conversions of a click,
 * the batch also says that the one at the old place is gone.
 */
export async function writeVersions(
  writer: Writer,
  changes: readonly { row: Conversion; before: Stored | undefined }[],
): Promise<void> {
  if (changes.length === 0) return
  const nowVersion = Date.now() * 1_000
  const out = new RowBinary()
  const times: number[] = []
  const write = (row: Conversion) => {
    for (const column of conversionColumns) column.write(out, row)
    times.push(row.convertedAt)
  }
  for (const { row, before } of changes) {
    row.version = Math.max(nowVersion, (before?.version ?? 0) + 2)
    if (before && hasMoved(before, row)) {
      write({ ...blankConversion(writer.accountId), ...before, version: row.version - 1, isDeleted: true })
    }
    write(row)
  }
  await sendBatch(writer, {
    resource: 'conversions',
    table: 'conversions',
    columns: conversionColumns.map(({ name }) => name),
    bytes: out.bytes,
    firstMs: times.reduce((a, b) => Math.min(a, b)),
    lastMs: times.reduce((a, b) => Math.max(a, b)),
  })
}

function hasMoved(before: Stored, row: Conversion): boolean {
  if (before.convertedAt !== row.convertedAt) return true
  return before.clickAt !== null && (before.clickAt !== row.clickAt || before.clickId !== row.clickId)
}
