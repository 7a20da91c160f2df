import type { ClickHouseSettings } from '@clickhouse/client'
import { type ReadContext, readRows } from '../../query/readContext.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import { longRead } from '../../stores/clickhouse/select.ts'
import type { ChecksumPlan } from './plan.ts'
import { checksumSql, sources } from './sql.ts'

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
