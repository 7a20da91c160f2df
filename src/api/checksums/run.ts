import type { ClickHouseSettings } from '@clickhouse/client'
import type { RouteContext } from '../../http/context.ts'
import type { DatedResponse } from '../../http/responseCache.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import { longRead, selectRows } from '../../stores/clickhouse/select.ts'
import type { ChecksumPlan } from './plan.ts'
import { checksumSql, sources } from './sql.ts'

/** Versions of a row are in one partition: partitions of clicks are months of `clicked_at`, the other tables have none. */
const settings: ClickHouseSettings = { do_not_merge_across_partitions_select_final: 1, ...longRead }

/** Computes the checksums of a plan. */
export async function runChecksums(
  { stores }: RouteContext,
  plan: ChecksumPlan,
  signal: AbortSignal,
): Promise<DatedResponse & { data: object[] }> {
  // Before the query, so that every row with an earlier `storedAt` is visible to it.
  const asOfMs = await readWatermark(stores, plan.accountId, plan.resource, signal)
  const rows = await selectRows<{ day: string; rows: number; amount: string; hash: string }>(
    stores.clickhouse,
    checksumSql(plan, asOfMs),
    { label: `checksums.${plan.resource}`, signal, settings },
  )
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
