import { inRange } from '../../query/conditions.ts'
import type { ListedResource } from '../../query/readContext.ts'
import { ch, type Fragment, identifier, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { ChecksumPlan } from './plan.ts'

/** Table and key of each resource, and its amount with the name in the response; events have none. */
export const sources: Record<
  ListedResource,
  { table: keyof typeof timeColumns; key: Fragment; amount: Fragment; amountName?: string }
> = {
  clicks: { table: 'clicks', key: ch`id`, amount: ch`cost_base`, amountName: 'costBase' },
  conversions: { table: 'conversions', key: ch`id`, amount: ch`revenue_base`, amountName: 'revenueBase' },
  costs: { table: 'costs', key: ch`id`, amount: ch`cost_base`, amountName: 'costBase' },
  events: { table: 'pixel_events', key: ch`origin, '|', id, '|', toString(generation)`, amount: ch`NULL` },
}

/**
 * Checksums of the latest versions by day. XOR does not depend on the order of rows; FINAL removes copies, which would cancel
 * each other.
 * @param asOfMs watermark; later rows are left out
 * @returns rows `day`, `rows`, `amount` (decimal text, 0 for events), `hash`, by day
 */
export function checksumSql({ resource, accountId, range }: ChecksumPlan, asOfMs: number): Fragment {
  const { table, key, amount } = sources[resource]
  const at = timeColumns[table]
  const conditions = [ch`account_id = ${text(accountId)}`, ...inRange(at, range)]
  return ch`
SELECT day, count() AS rows, sum(ifNull(amount, 0)) AS amount,
  substring(leftPad(lower(hex(groupBitXor(digits))), 16, '0'), 2) AS hash
FROM (
  SELECT toDate(${at}) AS day, ${amount} AS amount, stored_at,
    concat(${key}, '|', ${instantText(at)}, '|', ${instantText(ch`stored_at`)}) AS row,
    bitShiftRight(reinterpretAsUInt64(reverse(substring(MD5(row), 1, 8))), 4) AS digits
  FROM ${identifier(table)} FINAL
  WHERE ${join(conditions, '\n  AND ')}
)
WHERE stored_at < ${instant(asOfMs)}
GROUP BY day
ORDER BY day`
}

/** @returns a time as in a response */
const instantText = (column: Fragment): Fragment => ch`replaceOne(toString(${column}), ' ', 'T'), 'Z'`
