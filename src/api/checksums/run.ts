import type { ClickHouseSettings } from '@clickhouse/client'
import type { Static } from '@sinclair/typebox'
import type { ClickChecksums, ConversionChecksums, EventChecksums } from '../../../schema/checksum.ts'
import type { RouteContext } from '../../http/context.ts'
import { toInstantText } from '../../query/timeRange.ts'
import { readWatermark } from '../../query/watermark.ts'
import { longRead, selectRows } from '../../stores/clickhouse/select.ts'
import type { ChecksumPlan, ChecksumResource } from './plan.ts'
import { checksumSql } from './sql.ts'

type Checksums = Static<typeof ClickChecksums> | Static<typeof ConversionChecksums> | Static<typeof EventChecksums>

/** The name of the amount of each resource; events have none. */
const amountNames = { clicks: 'costBase', conversions: 'revenueBase', events: undefined } as const satisfies Record<
  ChecksumResource,
  string | undefined
>

/** Versions of a row are in one partition: those of clicks are months of `clicked_at`, the other tables have no partitions. */
const settings: ClickHouseSettings = { do_not_merge_across_partitions_select_final: 1, ...longRead }

/**
 * Computes the checksums of a plan.
 * @throws Problem `unavailable`, `query_timeout`
 */
export async function runChecksums(
  { stores }: RouteContext,
  plan: ChecksumPlan,
  signal: AbortSignal,
): Promise<Checksums> {
  // Before the query, so that every row with an earlier `storedAt` is visible to it.
  const asOfMs = await readWatermark(stores, plan.accountId, plan.resource, signal)
  const rows = await selectRows<{ day: string; rows: number; amount: string; hash: string }>(
    stores.clickhouse,
    checksumSql(plan, asOfMs),
    { label: `checksums.${plan.resource}`, signal, settings },
  )
  const amountName = amountNames[plan.resource]
  return {
    ...plan.retained,
    asOf: toInstantText(asOfMs),
    data: rows.map(({ day, rows, amount, hash }) => ({
      ...{ day, rows },
      ...(amountName && { [amountName]: Number(amount) }),
      hash,
    })),
  } as Checksums
}
