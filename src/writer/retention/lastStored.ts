import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../lease/writer.ts'

/**
 * Reads when the latest click, conversion or event of the account was stored.
 * @returns `stored_at`, epoch milliseconds; 0: the account has no rows
 * @throws the last error when ClickHouse stays unavailable
 */
export async function readLastStoredMs(writer: Writer): Promise<number> {
  const ofAccount = ch`account_id = ${text(writer.accountId)}`
  const query = ch`
SELECT toUnixTimestamp64Milli(max(latest)) AS lastMs
FROM (
  SELECT max(stored_at) AS latest FROM clicks WHERE ${ofAccount}
  UNION ALL
  SELECT max(stored_at) AS latest FROM conversions WHERE ${ofAccount}
  UNION ALL
  SELECT max(stored_at) AS latest FROM pixel_events WHERE ${ofAccount})`
  const options = { label: 'retention.last_stored', signal: writer.signal, ...batchTimeout }
  const read = () => selectRows<{ lastMs: number }>(writer.stores.clickhouse, query, options)
  const [row] = await retryWhileUnavailable('reading when the latest row was stored', read, writer)
  return row?.lastMs ?? 0
}
