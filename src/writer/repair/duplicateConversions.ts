import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, count, type Fragment, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { sendChanges } from '../store/conversions.ts'
import { readCurrentConversions } from '../store/currentConversions.ts'
import type { Conversion } from '../tables/conversion.ts'
import type { Writer } from '../writer.ts'
import type { DuplicateIds } from './difference.ts'

const pageIds = 1_000

/**
 * Counts ids of conversions whose latest versions are at several moments, by month of those that do not stay. The one that
 * was updated last stays, as in an import; of equals, the one that was stored first, which has the lowest version.
 */
export async function compareConversionIds(writer: Writer): Promise<DuplicateIds[]> {
  const account = ch`account_id = ${text(writer.accountId)}`
  const query = ch`
SELECT toStartOfMonth(converted_at) AS month, toUInt32(uniqExact(id)) AS ids
FROM (
  SELECT id, converted_at, (-toUnixTimestamp64Milli(updated_at), version, converted_at) AS place,
    min(place) OVER (PARTITION BY id) AS first
  FROM conversions FINAL
  WHERE ${account}
    AND id IN (${duplicateIds(account)}))
WHERE place != first
GROUP BY month
ORDER BY month`
  const rows = await retryWhileUnavailable(
    'looking for conversions that are stored twice',
    () =>
      selectRows<{ month: string; ids: number }>(writer.stores.clickhouse, query, {
        label: 'verify',
        signal: writer.signal,
        ...batchTimeout,
      }),
    writer,
  )
  return rows.map((row) => ({ kind: 'duplicate_ids', table: 'conversions', ...row }))
}

/**
 * Takes back the conversions that do not stay, and writes the one that does once more, so that it has the highest version
 * in every table. Each page is a batch of the journal like those of an import.
 */
export async function removeDuplicateConversions(writer: Writer): Promise<void> {
  for (;;) {
    const rows = await readCurrentConversions(
      writer,
      ch`id IN (${duplicateIds(ch`account_id = ${text(writer.accountId)}`)} ORDER BY id LIMIT ${count(pageIds)})`,
      { doing: 'reading conversions that are stored twice', label: 'repair.conversions' },
    )
    if (rows.length === 0) return
    const seen = new Set<string>()
    const changes = rows.sort(inOrder).map((before) => {
      const stays = !seen.has(before.id)
      seen.add(before.id)
      return { before, row: stays ? { ...before } : undefined }
    })
    // One whose outcome is unknown is looked at again, like any that is left.
    await sendChanges(writer, changes)
  }
}

/** The one that stays first. */
function inOrder(a: Conversion, b: Conversion): number {
  return b.updatedAt - a.updatedAt || a.version - b.version || a.convertedAt - b.convertedAt
}

const duplicateIds = (account: Fragment) =>
  ch`SELECT id FROM conversions FINAL WHERE ${account} GROUP BY id HAVING count() > 1`
