import { ch, count, type Fragment, identifier } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { rebuildIndexes } from '../derived/indexes.ts'
import type { Writer } from '../fence/session.ts'
import { tryStore } from '../store/facts.ts'
import { type ChangingRow, type ChangingTable, conversionTable, costTable } from '../upserts/changingTables.ts'
import { readCurrentRows } from '../upserts/currentRows.ts'
import type { DuplicateIds } from './duplicateClicks.ts'

const pageIds = 1_000

/**
 * Counts ids with rows at several times, by month of the rows that a repair deletes. The row updated last remains, as in an
 * import; of equals, the one stored first, which has the lowest version.
 */
export async function findDuplicateRowIds(writer: Writer): Promise<DuplicateIds[]> {
  const found: DuplicateIds[] = []
  for (const { name } of [conversionTable, costTable]) {
    const at = timeColumns[name]
    const query = ch`
SELECT toStartOfMonth(${at}) AS month, toUInt32(uniqExact(id)) AS ids
FROM (
  SELECT id, ${at}, (-toUnixTimestamp64Milli(updated_at), version, ${at}) AS rank,
    min(rank) OVER (PARTITION BY id) AS first
  FROM ${identifier(name)} FINAL
  WHERE ${writer.ofAccount}
    AND id IN (${duplicateIds(writer, name)}))
WHERE rank != first
GROUP BY month
ORDER BY month`
    const rows = await writer.select<{ month: string; ids: number }>(`looking for duplicate ${name}`, query, 'verify')
    found.push(...rows.map((row) => ({ table: name, ...row })))
  }
  return found
}

/** Deletes the duplicates, and writes the remaining row again, so that it has the highest version in every table. */
export async function removeDuplicateRows(writer: Writer): Promise<void> {
  await removeDuplicates(writer, conversionTable)
  await removeDuplicates(writer, costTable)
  await rebuildIndexes(writer, [writer.accountId])
}

async function removeDuplicates<Row extends ChangingRow>(writer: Writer, table: ChangingTable<Row>): Promise<void> {
  const { name, atOf } = table
  for (;;) {
    const rows = await readCurrentRows(
      writer,
      table,
      ch`${writer.ofAccount} AND id IN (${duplicateIds(writer, name)} ORDER BY id LIMIT ${count(pageIds)})`,
      `reading duplicate ${name}`,
      `repair.${name}`,
    )
    if (rows.length === 0) return
    const seen = new Set<string>()
    const remainingFirst = (a: Row, b: Row) => b.updatedAt - a.updatedAt || a.version - b.version || atOf(a) - atOf(b)
    const changes = rows.sort(remainingFirst).map((before) => {
      const isFirst = !seen.has(before.id)
      seen.add(before.id)
      return { before, row: isFirst ? { ...before } : undefined }
    })
    // Once: after an unknown outcome, the next round finds the changes that are missing.
    await tryStore(writer, { [name]: changes })
  }
}

const duplicateIds = ({ ofAccount }: Writer, name: 'conversions' | 'costs'): Fragment =>
  ch`SELECT id FROM ${identifier(name)} FINAL WHERE ${ofAccount} GROUP BY id HAVING count() > 1`
