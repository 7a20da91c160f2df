import { ch, count } from '../../stores/clickhouse/sql.ts'
import { rebuildIndexes } from '../derived/indexes.ts'
import type { Writer } from '../fence/session.ts'
import { tryStore } from '../store/facts.ts'
import { type ChangingRow, type ChangingTable, conversionTable, costTable } from '../upserts/changingTables.ts'
import { readCurrentRows } from '../upserts/currentRows.ts'
import { duplicateIds } from './duplicateIds.ts'

const pageIds = 1_000

/** Deletes the duplicates, and writes the remaining row again, so that it has the highest version in every table. */
export async function removeDuplicateRows(writer: Writer): Promise<void> {
  await removeDuplicates(writer, conversionTable)
  await removeDuplicates(writer, costTable)
  await rebuildIndexes(writer, [writer.accountId])
}

async function removeDuplicates<Row extends ChangingRow>(writer: Writer, table: ChangingTable<Row>): Promise<void> {
  const { name, atOf } = table
  for (;;) {
    const where = ch`${writer.ofAccount} AND id IN (${duplicateIds(writer, name)} ORDER BY id LIMIT ${count(pageIds)})`
    const rows = await readCurrentRows(writer, table, where, `reading duplicate ${name}`, `repair.${name}`)
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
