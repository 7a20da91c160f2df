import { ch } from '../../stores/clickhouse/sql.ts'
import type { Writer } from '../lease/writer.ts'

/** When the latest click, conversion or event of the account was stored, epoch milliseconds; 0: the account has no rows. */
export async function readLastStoredMs(writer: Writer): Promise<number> {
  const query = ch`
SELECT toUnixTimestamp64Milli(max(latest)) AS lastMs
FROM (
  SELECT max(stored_at) AS latest FROM clicks WHERE ${writer.ofAccount}
  UNION ALL
  SELECT max(stored_at) AS latest FROM conversions WHERE ${writer.ofAccount}
  UNION ALL
  SELECT max(stored_at) AS latest FROM pixel_events WHERE ${writer.ofAccount})`
  const step = 'reading when the latest row was stored'
  const [row] = await writer.select<{ lastMs: number }>(step, query, 'retention.last_stored')
  return row?.lastMs ?? 0
}
