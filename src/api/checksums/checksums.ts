import type { ClickHouseSettings } from '@clickhouse/client'
import type { ChecksumQuery } from '../../../schema/checksum.ts'
import { inRange } from '../../query/conditions.ts'
import { type ListedResource, type PlanCaller, type ReadContext, readRows } from '../../query/readContext.ts'
import { onlyRetained, retainedFrom, retainedMsOf } from '../../query/retained.ts'
import { localRange, rangeDaysMax, toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, identifier, instant, join, text } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'

export type ChecksumPlan = ReturnType<typeof planChecksums>

/**
 * Builds the query plan of checksums; no I/O.
 * @throws Problem `invalid_from`, `invalid_to`, `invalid_date_range`
 */
export function planChecksums(resource: ListedResource, query: ChecksumQuery, caller: PlanCaller, nowMs: number) {
  const { range } = localRange(query, 1, rangeDaysMax, 'A request of checksums', nowMs)
  const retainedMs = retainedMsOf(resource, caller.retained)
  return {
    resource,
    accountId: caller.accountId,
    /** Whole UTC days with rows that are retained. */
    range: onlyRetained(range, retainedMs),
    retained: retainedFrom(range.fromMs, retainedMs),
  }
}

/** Versions of a row are in one partition: partitions of clicks are months of `clicked_at`, the other tables have none. */
const settings: ClickHouseSettings = { do_not_merge_across_partitions_select_final: 1, ...longRead }

/** Computes the checksums of a plan. */
export async function runChecksums(context: ReadContext, plan: ChecksumPlan) {
  // Before the query, so that every row with an earlier `storedAt` is visible to it.
  const asOfMs = await readWatermark(context, plan.accountId, plan.resource)
  type Day = { day: string; rows: number; amount: string; hash: string }
  const rows = await readRows<Day>(context, checksumSql(plan, asOfMs), `checksums.${plan.resource}`, settings)
  const { amountName } = sources[plan.resource]
  return {
    ...plan.retained,
    asOf: toInstantText(asOfMs),
    data: rows.map(({ day, rows, amount, hash }) => ({
      day,
      rows,
      ...(amountName && { [amountName]: Number(amount) }),
      hash,
    })),
  }
}

/** Table and key of each resource, and its amount with the name in the response; events have none. */
const sources: Record<
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
function checksumSql({ resource, accountId, range }: ChecksumPlan, asOfMs: number): Fragment {
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
