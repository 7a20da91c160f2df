import { type RowTable, rowTables } from '../../query/attributes.ts'
import { ch, type Fragment, identifier } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../fence/session.ts'

interface DuplicateIds {
  table: RowTable
  /** UTC month of the rows that a repair deletes, as its first day, `2026-11-01`. */
  month: string
  ids: number
}

/** Counts ids that are stored more than once, by month of the rows that a repair deletes. */
export async function findDuplicateIds(writer: Writer): Promise<DuplicateIds[]> {
  const found: DuplicateIds[] = []
  for (const table of rowTables) {
    const query = ch`
SELECT toStartOfMonth(${timeColumns[table]}) AS month, toUInt32(uniqExact(id)) AS ids
FROM (${laterCopies(writer, table)})
GROUP BY month
ORDER BY month`
    const rows = await writer.select<{ month: string; ids: number }>(`looking for duplicate ${table}`, query, 'verify')
    found.push(...rows.map((row) => ({ table, ...row })))
  }
  return found
}

/** SELECT of every row but the first of each id: its id, time and rank, and the rank of the first row. */
export function laterCopies(writer: Writer, table: RowTable): Fragment {
  return ch`
SELECT *
FROM (
  SELECT id, ${timeColumns[table]}, ${rankOf(table)} AS rank, min(rank) OVER (PARTITION BY id) AS first
  FROM ${rowsOf(table)}
  WHERE ${writer.ofAccount} AND id IN (${duplicateIds(writer, table)}))
WHERE rank != first`
}

export function duplicateIds({ ofAccount }: Writer, table: RowTable): Fragment {
  return ch`SELECT id FROM ${rowsOf(table)} WHERE ${ofAccount} GROUP BY id HAVING count() > 1`
}

/** Each copy of a click counts in the sums, also one that a merge will remove; of other rows, only the latest version is compared. */
function rowsOf(table: RowTable): Fragment {
  return table === 'clicks' ? ch`clicks` : ch`${identifier(table)} FINAL`
}

/**
 * The row with the smallest rank remains: the click stored first; the conversion or cost updated last, as in an import, and of equals the
 * one stored first, which has the lowest version.
 */
export function rankOf(table: RowTable): Fragment {
  if (table === 'clicks') return ch`(stored_at, clicked_at, toString(campaign_id))`
  return ch`(-toUnixTimestamp64Milli(updated_at), version, ${timeColumns[table]})`
}
