import { ch, count, type Fragment } from '../../stores/clickhouse/sql.ts'
import { rebuildConversionTables } from '../derived/conversionTables.ts'
import type { Writer } from '../fence/writer.ts'
import { readCurrentConversions } from '../store/currentConversions.ts'
import { storeOnce } from '../store/flush.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { DuplicateIds } from './duplicateClicks.ts'

const pageIds = 1_000

/**
 * Counts ids of conversions with several converted_at, by month of those that a repair deletes. The one updated last remains,
 * as in an import; of equals, the one stored first, which has the lowest version.
 */
export async function findDuplicateConversionIds(writer: Writer): Promise<DuplicateIds[]> {
  const query = ch`
SELECT toStartOfMonth(converted_at) AS month, toUInt32(uniqExact(id)) AS ids
FROM (
  SELECT id, converted_at, (-toUnixTimestamp64Milli(updated_at), version, converted_at) AS rank,
    min(rank) OVER (PARTITION BY id) AS first
  FROM conversions FINAL
  WHERE ${writer.ofAccount}
    AND id IN (${duplicateIds(writer)}))
WHERE rank != first
GROUP BY month
ORDER BY month`
  const step = 'looking for duplicate conversions'
  const rows = await writer.select<{ month: string; ids: number }>(step, query, 'verify')
  return rows.map((row) => ({ table: 'conversions', ...row }))
}

/** Deletes the duplicates, and writes the remaining conversion again, so that it has the highest version in every table. */
export async function removeDuplicateConversions(writer: Writer): Promise<void> {
  for (;;) {
    const rows = await readCurrentConversions(
      writer,
      ch`${writer.ofAccount} AND id IN (${duplicateIds(writer)} ORDER BY id LIMIT ${count(pageIds)})`,
      'reading duplicate conversions',
      'repair.conversions',
    )
    if (rows.length === 0) break
    const seen = new Set<string>()
    const changes = rows.sort(remainingFirst).map((before) => {
      const isFirst = !seen.has(before.id)
      seen.add(before.id)
      return { before, row: isFirst ? { ...before } : undefined }
    })
    // The next round finds the changes of an attempt of unknown outcome that are missing.
    await storeOnce(writer, { changes })
  }
  await rebuildConversionTables(writer, [writer.accountId])
}

function remainingFirst(a: Conversion, b: Conversion): number {
  return b.updatedAt - a.updatedAt || a.version - b.version || a.convertedAt - b.convertedAt
}

const duplicateIds = ({ ofAccount }: Writer): Fragment =>
  ch`SELECT id FROM conversions FINAL WHERE ${ofAccount} GROUP BY id HAVING count() > 1`
